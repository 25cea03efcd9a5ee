import { ConfigMap, Deployment } from '@kubewright/k8s'
import type { Client } from './client.ts'
import { type DynamicObject, metadataOnly } from './dynamic-kind.ts'
import type { ScaleObject } from './subresource-client.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const is = <T extends true>(): void => void 0 as unknown as T as never
declare const client: Client

const created = client.create(ConfigMap({ metadata: { name: 'a' } }))
is<Equal<Awaited<typeof created>, ConfigMap>>()
const got = await client.get(ConfigMap, 'a')
const updated = client.update(got)
is<Equal<Awaited<typeof updated>, ConfigMap>>()
const scale = client.subresource(Deployment, 'scale').get('a')
is<Equal<Awaited<typeof scale>, ScaleObject>>()
const status = client.subresource(Deployment, 'status').get('a')
is<Equal<Awaited<typeof status>, Deployment>>()
const other = client.subresource(Deployment, 'other').get('a')
is<Equal<Awaited<typeof other>, DynamicObject>>()

void client.patch(Deployment, 'a', { spec: { replicas: 3, paused: null } })
void client.patch(Deployment, 'a', [{ op: 'remove', path: '/spec/paused' }])
void client.apply(Deployment, {
  metadata: { name: 'a' },
  spec: { template: { spec: { containers: [{ name: 'a' }] } } },
})
// @ts-expect-error a misspelt field
void client.patch(Deployment, 'a', { spec: { replica: 3 } })
// @ts-expect-error a wrong type
void client.patch(Deployment, 'a', { spec: { replicas: '3' } })
// @ts-expect-error an applied object requires a name
void client.apply(Deployment, { spec: { replicas: 3 } })
// @ts-expect-error an applied field must exist
void client.apply(Deployment, { metadata: { name: 'a' }, spec: { replica: 3 } })
// @ts-expect-error no such field to select on
void client.list(Deployment, { where: { 'spec.replica': 3 } })
// @ts-expect-error read objects are readonly
got.data = {}
const meta = await client.get(metadataOnly(Deployment), 'a')
// @ts-expect-error only metadata is readable
void meta.spec
