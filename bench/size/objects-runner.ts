// `fill COUNT FOLDER` stores ConfigMaps in a durable store; `open COUNT FOLDER` starts a control plane on it until it serves them.
import type { Transport } from '@kubewright/client'
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Namespace } from '@kubewright/k8s'
import { type DurableStore, openDurableStore } from '@kubewright/storage'
import { report, taken } from '../controlplane/process-figures.ts'
import { peakMiB } from '../peak-memory.ts'
import { inBatches, progress, readAll, usedMiB } from './measure-size.ts'

const [mode, amount, folder = ''] = process.argv.slice(2)
const count = Number(amount)
const perNamespace = 10_000
const namespaceOf = (index: number): string => `size-${Math.floor(index / perNamespace)}`

// The API server creates this many; the rest is copied from them into the store, which takes a fraction of the time.
const created = Math.min(count, 10_000)

async function fill(): Promise<void> {
  const store = await openDurableStore(folder)
  const plane = await startControlPlane({ store, nodes: 0 })
  const client = plane.client()
  const spaces = Math.ceil(count / perNamespace)
  await inBatches(spaces, (i) => client.create(Namespace({ metadata: { name: namespaceOf(i * perNamespace) } })))
  const creates = await taken(() =>
    inBatches(created, (index) => {
      const metadata = { namespace: namespaceOf(index), name: `map-${index}`, labels: { app: `app-${index % 100}` } }
      return client.create(ConfigMap({ metadata, data: { index: String(index), text: 'x'.repeat(400) } }))
    }),
  )
  progress(`${created} ConfigMaps created`)
  await plane[Symbol.asyncDispose]()
  const { entry } = await store.get(`/registry/configmaps/${namespaceOf(0)}/map-0`)
  const text = Buffer.from(entry!.value).toString()
  await inBatches(
    count - created,
    async (i) => {
      const index = created + i
      if (index % 100_000 === 0) progress(`${index} of ${count} ConfigMaps stored`)
      const value = text
        .replace('"name":"map-0"', `"name":"map-${index}"`)
        .replace(`"namespace":"${namespaceOf(0)}"`, `"namespace":"${namespaceOf(index)}"`)
        .replace(/"uid":"[0-9a-f]{8}/, `"uid":"${index.toString(16).padStart(8, '0')}`)
      await store.put(`/registry/configmaps/${namespaceOf(index)}/map-${index}`, Buffer.from(value), 0)
    },
    1000,
  )
  await store[Symbol.asyncDispose]()
  report({ created, creates, peakMiB: peakMiB() })
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
  const list = await taken(() => readPatiently(transport, '/api/v1/configmaps'))
  report({ opened, ready, fullMiB, page, namespace, list, peakMiB: peakMiB() })
}

/** Reads a list. The first one checks all objects, and on a busy machine the request may time out before; the next continues the check. */
async function readPatiently(transport: Transport, path: string): Promise<void> {
  for (let attempt = 1; attempt <= 20; attempt++) {
    const { body, status } = await transport.send({ method: 'GET', path, headers: { accept: 'application/json' } })
    for await (const _ of body);
    if (status === 200) return
    if (status !== 504) throw new Error(`GET ${path} responded with ${status}`)
  }
  throw new Error(`GET ${path} timed out repeatedly`)
}

await (mode === 'fill' ? fill() : open())
process.exit(0)
