import { type Clock, every } from '../clock.ts'
import type { MetricDefinition } from './metric-definition.ts'
import type { MetricRegistry } from './metric-registry.ts'
import type { MetricLabels } from './metric-sink.ts'

/** The part of Node's `process` that {@link measureProcess} reads. */
export interface MeasuredProcess {
  readonly version: string
  /** Microseconds. */
  cpuUsage(): { readonly user: number; readonly system: number }
  memoryUsage(): {
    readonly rss: number
    readonly heapTotal: number
    readonly heapUsed: number
    readonly external: number
  }
}

/** Options of {@link measureProcess}. */
export interface MeasureProcessOptions {
  readonly process: MeasuredProcess
  readonly clock: Clock
  /** Wall time of the start, milliseconds since the epoch. @default now */
  readonly startedAt?: number | undefined
  /** Also measures how late timers fire, with a timer of its own every second. @default true */
  readonly eventLoopLag?: boolean | undefined
}

const lagPeriod = 1000
const none: MetricLabels = Object.freeze({})

const definitions: readonly MetricDefinition[] = (
  [
    ['process_cpu_seconds_total', 'counter', 'Total user and system CPU time spent in seconds.'],
    ['process_resident_memory_bytes', 'gauge', 'Resident memory size in bytes.'],
    ['process_start_time_seconds', 'gauge', 'Start time of the process since unix epoch in seconds.'],
    ['nodejs_heap_size_total_bytes', 'gauge', 'Process heap size from Node.js in bytes.'],
    ['nodejs_heap_size_used_bytes', 'gauge', 'Process heap size used from Node.js in bytes.'],
    ['nodejs_external_memory_bytes', 'gauge', 'Node.js external memory size in bytes.'],
    ['nodejs_version_info', 'gauge', 'Node.js version info.', ['version']],
  ] as const
).map(([name, type, help, labels = []]) => ({ name, type, help, labels }))

const lagDefinition: MetricDefinition = {
  name: 'nodejs_eventloop_lag_seconds',
  type: 'gauge',
  help: 'Longest delay of a timer since the last scrape, in seconds.',
}

/** Adds metrics of the process to a registry, under the names of Prometheus' exporters for Node. Dispose it to stop. */
export function measureProcess(registry: MetricRegistry, options: MeasureProcessOptions): Disposable {
  const { process, clock, startedAt = clock.now(), eventLoopLag = true } = options
  registry.define(definitions)
  registry.set('process_start_time_seconds', none, startedAt / 1000)
  registry.set('nodejs_version_info', Object.freeze({ version: process.version }), 1)
  const lag = eventLoopLag ? measureLag(registry, clock) : undefined
  let cpuBefore = 0
  const collector = registry.beforeEach(() => {
    const { user, system } = process.cpuUsage()
    const cpu = (user + system) / 1e6
    registry.add('process_cpu_seconds_total', none, cpu - cpuBefore)
    cpuBefore = cpu
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage()
    registry.set('process_resident_memory_bytes', none, rss)
    registry.set('nodejs_heap_size_total_bytes', none, heapTotal)
    registry.set('nodejs_heap_size_used_bytes', none, heapUsed)
    registry.set('nodejs_external_memory_bytes', none, external)
  })
  return {
    [Symbol.dispose]: () => {
      lag?.[Symbol.dispose]()
      collector[Symbol.dispose]()
    },
  }
}

function measureLag(registry: MetricRegistry, clock: Clock): Disposable {
  registry.define([lagDefinition])
  let expected = clock.monotonic() + lagPeriod
  let lag = 0
  const tick = (): void => {
    const now = clock.monotonic()
    lag = Math.max(lag, now - expected)
    expected = now + lagPeriod
  }
  const ticks = every(clock, lagPeriod, tick, 'event loop lag')
  const collector = registry.beforeEach(() => {
    registry.set(lagDefinition.name, none, lag / 1000)
    lag = 0
  })
  return {
    [Symbol.dispose]: () => {
      ticks.cancel()
      collector[Symbol.dispose]()
    },
  }
}
