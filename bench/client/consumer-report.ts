// The work and the report of all consumers of the client benchmark, so that their figures are comparable.
import { request } from 'node:http'
import { peakMiB } from '../peak-memory.ts'
import { siteName } from './stored-sites.ts'

/** The command line of a consumer. */
export interface ConsumerTask {
  readonly server: string
  readonly objects: number
  readonly events: number
  /** Selects one of several variants of a consumer. */
  readonly variant: string
}

/** The operations of a consumer. */
export interface Consumer {
  /** Resolves when the cache is complete. */
  start(): Promise<void>
  /** Reads the spec of an object from the cache. Returns whether it is there. */
  read(name: string, namespace: string): boolean
  /** Resolves when the handler has received this many updates. */
  updates(count: number): Promise<void>
}

export function taskOfArguments(): ConsumerTask {
  const [server = '', objects = '0', events = '0', variant = ''] = process.argv.slice(2)
  return { server, objects: Number(objects), events: Number(events), variant }
}

/** Returns the CPU time of the process so far. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Does the work and prints the figures. */
export async function report(consumer: Consumer, task: ConsumerTask): Promise<never> {
  const loadedMillis = cpuMillis()
  await consumer.start()
  const syncMillis = cpuMillis()
  const syncMiB = peakMiB()
  for (let i = 0; i < task.objects; i++) {
    const { name, namespace } = siteName(i)
    if (!consumer.read(name, namespace)) throw new Error(`${namespace}/${name} is missing`)
    // A real reader does other work in between.
    if (i % 100 === 99) await new Promise((resolve) => setImmediate(resolve))
  }
  const readMillis = cpuMillis()
  let eventMillis = 0
  let elapsed = 0
  if (task.events > 0) {
    const done = consumer.updates(task.events)
    const started = performance.now()
    request(`${task.server}/go`, { method: 'POST' }).end()
    await done
    elapsed = performance.now() - started
    eventMillis = cpuMillis() - readMillis
  }
  const figures = { loadedMillis, syncMillis, syncMiB, readMillis, eventMillis, elapsed, peakMiB: peakMiB() }
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0))
  return new Promise(() => undefined)
}
