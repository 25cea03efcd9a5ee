import type { Context } from 'kubewright'
import { Pod } from 'kubewright/k8s'
import { ordinalOf } from './children.ts'
import type { Database } from './database.ts'
import type { Facts, InstanceFacts } from './plan-step.ts'
import { instanceName, type Sites } from './site.ts'
import type { SqlDatabase } from './sql-database.ts'

/** The dependencies of the operator. */
export interface SqlWorld {
  readonly database: Database
  readonly sites: Sites
}

/** An instance with its status. */
export interface InstanceView extends InstanceFacts {
  readonly pod: Pod
  readonly role: 'Primary' | 'Replica' | 'Joining' | 'Silent'
  readonly since: string
  readonly lag: number | undefined
}

/** The observed state of a database. */
export interface View {
  readonly facts: Facts
  readonly instances: ReadonlyMap<string, InstanceView>
}

/** Observes a database: its pods and the reports of its instances. */
export async function observe(
  database: SqlDatabase,
  world: SqlWorld,
  { children, now, signal }: Context,
): Promise<View> {
  const { topology, instances: known = [] } = database.status ?? {}
  const { name, namespace = '' } = database.metadata
  const pods = await children(Pod)
  const reports = await Promise.all(
    pods.map((pod) => {
      const { url } = world.sites({ name, namespace }, ordinalOf(pod))
      return world.database.report(url, { signal }).catch(() => undefined)
    }),
  )
  signal.throwIfAborted()
  const at = pods.findIndex(({ metadata }) => metadata.name === topology?.primary)
  const head = reports[at]
  const instances = new Map<string, InstanceView>()
  for (const [index, pod] of pods.entries()) {
    const report = reports[index]
    const isPrimary = index === at && report?.role === 'primary' && report.epoch === topology?.epoch
    const isInSync = topology?.inSync.includes(pod.metadata.name)
    const role = report === undefined ? 'Silent' : isPrimary ? 'Primary' : isInSync ? 'Replica' : 'Joining'
    const before = known.find((instance) => instance.name === pod.metadata.name)
    const since = before?.role === role ? before.since : now().toISOString()
    const isOver = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
    const isOverdue = now().getTime() - Date.parse(since) >= database.spec.failoverAfterSeconds * 1000
    instances.set(pod.metadata.name, {
      name: pod.metadata.name,
      ordinal: ordinalOf(pod),
      report,
      isLost: isOver || (role === 'Silent' && isOverdue),
      isStopping: pod.metadata.deletionTimestamp !== undefined,
      pod,
      role,
      since,
      lag: head === undefined || report === undefined ? undefined : Math.max(0, head.position - report.position),
    })
  }
  const nameOf = (ordinal: number): string => instanceName({ name }, ordinal)
  return { instances, facts: { wanted: database.spec.instances, topology, instances, nameOf } }
}
