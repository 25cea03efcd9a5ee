// Parts that the programs of the size benchmark share.
import type { Transport } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'

const started = performance.now()

/** Prints a line of progress with the elapsed time and the memory of the process. */
export function progress(text: string): void {
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  const { user, system } = process.cpuUsage()
  const cpu = ((user + system) / 1e6).toFixed(1)
  const resident = (process.memoryUsage.rss() / 2 ** 20).toFixed(0)
  process.stderr.write(`  ${seconds} s, CPU ${cpu} s, ${resident} MiB: ${text}\n`)
}

/** Collects garbage if the process exposes it, and returns the memory in use: heap and buffers. */
export function usedMiB(): number {
  globalThis.gc?.()
  // `external` has no shared buffers, and `arrayBuffers` has all of them.
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}

/** Resolves when the condition holds. Polls, because some states have no watch. */
export async function until(condition: () => Promise<boolean>, pauseMillis = 50): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, pauseMillis))
}

/** The number of stored keys with a prefix. */
export async function countKeys({ server }: ControlPlane, prefix: string): Promise<number> {
  const { entries, remaining } = await server.parts.registry.store.list({ prefix, limit: 1 })
  return entries.length + remaining
}

/** Reads the body of a GET as bytes, without decoding it. Resolves to the number of bytes. */
export async function readAll(transport: Transport, path: string): Promise<number> {
  const { body, status } = await transport.send({ method: 'GET', path, headers: { accept: 'application/json' } })
  if (status !== 200) throw new Error(`GET ${path} responded with ${status}`)
  let size = 0
  for await (const chunk of body) size += chunk.length
  return size
}

/** Starts a watch with initial events and reads it as bytes up to the bookmark that ends them. */
export async function readInitialEvents(transport: Transport, path: string): Promise<void> {
  const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const { body, status } = await transport.send({ method: 'GET', path: `${path}?${query}` })
  if (status !== 200) throw new Error(`the watch of ${path} responded with ${status}`)
  for await (const chunk of body) {
    if (Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes('k8s.io/initial-events-end')) break
  }
}

/** Calls `make` for 0 to `count - 1`, some at a time. */
export async function inBatches(count: number, make: (index: number) => Promise<unknown>, atOnce = 64): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await make(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
}
