// Fills a cluster of simulated nodes with the pods of Deployments, then measures reads and heartbeats of the full cluster.
import { startControlPlane } from '@kubewright/controlplane'
import { rollOut } from '../controlplane/many-deployments.ts'
import { report, taken } from '../controlplane/process-figures.ts'
import { peakMiB } from '../peak-memory.ts'
import { countKeys, progress, readAll, readInitialEvents, until, usedMiB } from './measure-size.ts'

const [nodes = 0, pods = 0] = process.argv.slice(2).map(Number)
// As in Kubernetes' own scalability tests, 30 pods per node, in Deployments of medium size.
const replicas = 30
const deployments = 50
const many = { namespaces: Math.max(1, Math.round(pods / replicas / deployments)), deployments, replicas }
// Long enough for several collections of the whole heap: in 30 seconds there is one or none, which made the share 17 % or 6 %.
const heartbeatMillis = 300_000
const calmMillis = 60_000

const plane = await startControlPlane({ nodes: { nodes, heartbeat: '10s' } })
const leases = '/registry/leases/kube-node-lease/'
const registered = await taken(() => until(async () => (await countKeys(plane, leases)) === nodes))
progress(`${nodes} nodes registered`)
const idleMiB = usedMiB()

const total = many.namespaces * many.deployments * replicas
// The number of pods, the CPU in seconds and the memory in MiB, while the cluster grows.
const growth: (readonly [number, number, number])[] = []
const before = process.cpuUsage()
const timer = setInterval(() => {
  void countKeys(plane, '/registry/pods/').then((count) => {
    progress(`${count} of ${total} pods created`)
    const { user, system } = process.cpuUsage(before)
    growth.push([count, (user + system) / 1e6, process.memoryUsage.rss() / 2 ** 20])
  })
}, 10_000)
const running = await taken(() => rollOut(plane.client(), many, new AbortController().signal))
clearInterval(timer)
progress(`${total} pods available`)
const fullMiB = usedMiB()
const objects = await countKeys(plane, '/registry/')
const events = await countKeys(plane, '/registry/events/')

const transport = plane.transport()
const list = await taken(() => readAll(transport, '/api/v1/pods'))
const watch = await taken(() => readInitialEvents(transport, '/api/v1/pods'))
progress('pods listed and watched')
// The garbage of these reads and the last work of the roll-out are not the work of an idle cluster.
globalThis.gc?.()
await new Promise((resolve) => setTimeout(resolve, calmMillis))
const idle = await taken(() => new Promise((resolve) => setTimeout(resolve, heartbeatMillis)))
report({
  ...{ nodes, pods: total, objects, events, registered, running, idleMiB, fullMiB, list, watch, growth },
  idleShare: idle.cpuMillis / idle.wallMillis,
  peakMiB: peakMiB(),
})
process.exit(0)
