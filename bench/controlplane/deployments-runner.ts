// Rolls out many Deployments on a control plane, deletes them with their namespaces, and prints the figures.
import { startControlPlane } from '@kubewright/controlplane'
import { countPods, remains, remove, rollOut } from './many-deployments.ts'
import { report, taken, takenSoFar } from './process-figures.ts'

const [namespaces = 0, deployments = 0, replicas = 0, nodes = 10] = process.argv.slice(2).map(Number)
const many = { namespaces, deployments, replicas }
const forever = new AbortController().signal
const plane = await startControlPlane({ nodes })
const started = takenSoFar()
const client = plane.client()
const rolledOut = await taken(() => rollOut(client, many, forever))
const pods = await countPods(client)
const removed = await taken(() => remove(client, many, forever))
report({ started, rolledOut, removed, pods, remains: (await remains(plane)).length })
process.exit(0)
