import { ConfigMap, Pod } from '@kubewright/k8s'
import type { Client } from './client.ts'
import { index } from './object-index.ts'

declare const client: Client

const byImage = index(Pod, 'byImage', (pod) => pod.spec?.containers.map(({ image }) => image ?? '') ?? [])
const byPhase = index(Pod, 'byPhase', (pod) => pod.status?.phase)
void client.list(Pod, { index: byImage('nginx') })
void client.list(Pod, { index: byPhase('Running'), labels: { app: 'a' } })
// @ts-expect-error an index of another kind
void client.list(ConfigMap, { index: byImage('nginx') })
// @ts-expect-error values are strings
byImage(1)
// @ts-expect-error the function reads a field that does not exist
index(Pod, 'wrong', (pod) => pod.spec.container)
// @ts-expect-error values must be strings
index(Pod, 'wrong', (pod) => pod.spec?.containers)
