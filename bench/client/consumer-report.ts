// What every consumer of the client benchmark does and reports, so that all of them do the same.
import { request } from 'node:http'
import { siteName } from './stored-sites.ts'

/** What a consumer is told on its command line. */
export interface ConsumerTask {
  readonly server: string
  readonly objects: number
  readonly events: number
  /** Which of several ways a consumer has. */
  readonly variant: string
}

/** What a consumer has to offer. */
export interface Consumer {
  /** Resolves when the cache has everything. */
  start(): Promise<void>
  /** Whether an object is in the cache, having looked at its spec. */
  read(name: string, namespace: string): boolean
  /** Resolves when so many updates have been told to the one handler. */
  updates(count: number): Promise<void>
}

export function taskOfArguments(): ConsumerTask {
  const [server = '', objects = '0', events = '0', variant = ''] = process.argv.slice(2)
  return { server, objects: Number(objects), events: Number(events), variant }
}

/** What the process has used so far. */
export function cpuMillis(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Does the work and prints what it took. */
export async function report(consumer: Consumer, task: ConsumerTask): Promise<never> {
  const loadedMillis = cpuMillis()
  await consumer.start()
  const syncMillis = cpuMillis()
  const syncMiB = process.resourceUsage().maxRSS / 1024
  for (let i = 0; i < task.objects; i++) {
    const { name, namespace } = siteName(i)
    if (!consumer.read(name, namespace)) throw new Error(`${namespace}/${name} is missing`)
    // A reader that works through a cache does other things in between.
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
  const { maxRSS } = process.resourceUsage()
  const figures = { loadedMillis, syncMillis, syncMiB, readMillis, eventMillis, elapsed, peakMiB: maxRSS / 1024 }
  process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0))
  return new Promise(() => undefined)
}
