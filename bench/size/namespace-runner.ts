// Fills a namespace with ConfigMaps and Secrets, and deletes it.
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Namespace, Secret } from '@kubewright/k8s'
import { report, taken } from '../controlplane/process-figures.ts'
import { peakMiB } from '../peak-memory.ts'
import { countKeys, inBatches, progress, until, usedMiB } from './measure-size.ts'

const count = Number(process.argv[2])
const name = 'crowded'

const plane = await startControlPlane({ nodes: 1 })
const client = plane.client()
await client.create(Namespace({ metadata: { name } }))
const created = await taken(() =>
  inBatches(count, (index) => {
    const metadata = { namespace: name, name: `object-${index}` }
    return index % 2 === 0
      ? client.create(ConfigMap({ metadata, data: { text: 'x'.repeat(400) } }))
      : client.create(Secret({ metadata, stringData: { text: 'x'.repeat(400) } }))
  }),
)
progress(`${count} objects created`)
const fullMiB = usedMiB()
const removed = await taken(async () => {
  await client.delete(Namespace, name)
  await until(async () => (await countKeys(plane, `/registry/namespaces/${name}`)) === 0)
})
const left =
  (await countKeys(plane, `/registry/configmaps/${name}/`)) + (await countKeys(plane, `/registry/secrets/${name}/`))
report({ objects: count, created, removed, left, fullMiB, peakMiB: peakMiB() })
process.exit(0)
