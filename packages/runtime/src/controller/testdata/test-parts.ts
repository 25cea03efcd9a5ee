import { type AnyKind, createKind, type KubeObject } from '@kubewright/api'
import {
  type MemoryLogger,
  type MetricLabels,
  type MetricSink,
  memoryLogger,
  seededRandom,
  VirtualClock,
} from '@kubewright/base'
import { noTracer } from '../../telemetry/tracing/tracer.ts'
import type { ControllerParts } from '../controller-parts.ts'
import { type FakeCluster, fakeCluster } from './fake-cluster.ts'

const kindOf = (kind: string, group: string, plural: string, scope: 'Namespaced' | 'Cluster' = 'Namespaced'): AnyKind =>
  createKind<KubeObject, KubeObject>({ group, version: 'v1', kind, plural, scope, schema: () => ({ type: 'object' }) })

export const Home: AnyKind = kindOf('Home', 'example.com', 'homes')
export const Estate: AnyKind = kindOf('Estate', 'example.com', 'estates', 'Cluster')
export const Deployment: AnyKind = kindOf('Deployment', 'apps', 'deployments')

/** An object with enough metadata for a cache. `more.metadata` is merged. */
export function objectOf(
  kind: AnyKind,
  name: string,
  version: number,
  more: Record<string, unknown> & { metadata?: Record<string, unknown> } = {},
): KubeObject {
  const { metadata, ...rest } = more
  const basic = { name, uid: `uid-${name}`, resourceVersion: String(version), generation: 1, creationTimestamp: '' }
  const namespaced = kind.scope === 'Namespaced' ? { namespace: 'ns' } : {}
  return { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { ...basic, ...namespaced, ...metadata }, ...rest }
}

/** A sink that keeps sums of counters and observations, and the last values of gauges. */
export class FakeMetrics implements MetricSink {
  readonly values = new Map<string, number>()

  add(name: string, labels: MetricLabels, amount: number): void {
    const id = idOf(name, labels)
    this.values.set(id, (this.values.get(id) ?? 0) + amount)
  }

  set(name: string, labels: MetricLabels, value: number): void {
    this.values.set(idOf(name, labels), value)
  }

  observe(name: string, labels: MetricLabels): void {
    this.add(`${name}_count`, labels, 1)
  }

  /**
   * The value of a metric of the controller `test`, optionally with a result. Names without our prefix get
   * controller-runtime's.
   */
  of(name: string, result?: string): number | undefined {
    const full = name.startsWith('kubewright_') ? name : `controller_runtime_${name}`
    return this.values.get(idOf(full, { controller: 'test', ...(result ? { result } : {}) }))
  }
}

const idOf = (name: string, labels: MetricLabels): string => `${name}${JSON.stringify(labels)}`

export interface TestParts extends ControllerParts {
  readonly clock: VirtualClock
  readonly log: MemoryLogger
  readonly metrics: FakeMetrics
  readonly cluster: FakeCluster
}

/** The parts of a controller, in memory and on a virtual clock. */
export function testParts(more: Partial<ControllerParts> = {}): TestParts {
  const parts = {
    cluster: fakeCluster(),
    clock: new VirtualClock(),
    random: seededRandom(1),
    log: memoryLogger(),
    metrics: new FakeMetrics(),
    tracer: noTracer,
    events: { record: () => undefined },
    operator: 'test-operator',
  }
  return { ...parts, ...more } as TestParts
}

/** The messages of logged errors. */
export function errorsOf(log: { readonly records: readonly { readonly message: string }[] }): string[] {
  return log.records.filter((record) => 'error' in record).map(({ message }) => message)
}
