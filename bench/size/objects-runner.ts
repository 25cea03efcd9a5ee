// `fill COUNT FOLDER` creates ConfigMaps on a durable store; `open COUNT FOLDER` starts a control plane on it until it serves them.
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Namespace } from '@kubewright/k8s'
import { type DurableStore, openDurableStore } from '@kubewright/storage'
import { report, taken } from '../controlplane/process-figures.ts'
import { inBatches, progress, readAll, usedMiB } from './measure-size.ts'

const [mode, amount, folder = ''] = process.argv.slice(2)
const count = Number(amount)
const perNamespace = 10_000
const namespaceOf = (index: number): string => `size-${Math.floor(index / perNamespace)}`

async function fill(): Promise<void> {
  const store = await openDurableStore(folder)
  const plane = await startControlPlane({ store, nodes: 0 })
  const client = plane.client()
  const spaces = Math.ceil(count / perNamespace)
  await inBatches(spaces, (i) => client.create(Namespace({ metadata: { name: namespaceOf(i * perNamespace) } })))
  let made = 0
  const timer = setInterval(() => progress(`${made} of ${count} ConfigMaps`), 10_000)
  const created = await taken(() =>
    inBatches(count, async (index) => {
      const metadata = { namespace: namespaceOf(index), name: `map-${index}`, labels: { app: `app-${index % 100}` } }
      await client.create(ConfigMap({ metadata, data: { index: String(index), text: 'x'.repeat(400) } }))
      made++
    }),
  )
  clearInterval(timer)
  const fullMiB = usedMiB()
  await plane[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
  report({ created, fullMiB, peakMiB: process.resourceUsage().maxRSS / 1024 })
}

async function open(): Promise<void> {
  let store: DurableStore | undefined
  const opened = await taken(async () => (store = await openDurableStore(folder)))
  progress('store opened')
  const plane = await startControlPlane({ store, nodes: 0 })
  const transport = plane.transport()
  const first = await readAll(transport, `/api/v1/namespaces/${namespaceOf(count - 1)}/configmaps/map-${count - 1}`)
  if (first === 0) throw new Error('the last ConfigMap is empty')
  const { user, system } = process.cpuUsage()
  const ready = { wallMillis: performance.now(), cpuMillis: (user + system) / 1000, peakMiB: opened.peakMiB }
  progress('control plane ready')
  const fullMiB = usedMiB()
  const page = await taken(() => readAll(transport, '/api/v1/configmaps?limit=500'))
  const namespace = await taken(() => readAll(transport, `/api/v1/namespaces/${namespaceOf(0)}/configmaps`))
  const list = await taken(() => readAll(transport, '/api/v1/configmaps'))
  report({ opened, ready, fullMiB, page, namespace, list, peakMiB: process.resourceUsage().maxRSS / 1024 })
}

await (mode === 'fill' ? fill() : open())
process.exit(0)
