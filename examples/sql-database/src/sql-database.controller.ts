import { type Context, type Controller, can, condition, defineController, isNotFound } from 'kubewright'
import { Pod, Service } from 'kubewright/k8s'
import { instanceServiceFor, podFor, primaryServiceFor } from './children.ts'
import { Fenced, type Peer } from './database.ts'
import { observe, type SqlWorld, type View } from './observe.ts'
import { planStep, type Step, synchronousOf, type Topology } from './plan-step.ts'
import { SqlDatabase } from './sql-database.ts'

/** Keeps databases available. Each reconcile takes one step, so a new leader never finds a half-done operation. */
export const sqlDatabaseController = (world: SqlWorld): Controller =>
  defineController(SqlDatabase, {
    owns: [Pod, Service],
    rbac: [
      can(Pod, 'delete'),
      can(Service, 'delete'),
      { apiGroups: ['sql.example.com'], resources: ['sqldatabases/status'], verbs: ['patch'] },
    ],
    // A decision in the status is the input of the next step.
    reconcileOwnWrites: true,
    // Instances send no events, so the controller polls them frequently while the database changes.
    hotLoop: { times: 200 },

    async reconcile(database, context) {
      const view = await observe(database, world, context)
      // Decisions are recorded in the status, so it must exist first.
      const step = database.status === undefined ? starting : planStep(view.facts)
      const topology = step.do === 'decide' ? await decide(database, step, context) : view.facts.topology
      const isFenced = await carryOut(step, database, view, world, context)
      await applyServices(database, view, step, context)
      return {
        status: statusOf(view, step, topology),
        requeueAfter: step.do === 'nothing' ? '5s' : step.do === 'wait' || isFenced ? '1s' : '10ms',
      }
    },
  })

const starting: Step = { do: 'wait', reason: 'Starting' }

/**
 * Records a decision before acting on it. The write is conditional on the observed version: of two operators that
 * consider each other dead, only one succeeds, so an epoch never has two primaries.
 */
async function decide(
  { metadata, status }: SqlDatabase,
  { topology, why }: Extract<Step, { readonly do: 'decide' }>,
  { client, event, signal }: Context,
): Promise<Topology> {
  const { inSync, joining = null, ...rest } = topology
  const decided = { ...rest, inSync: [...inSync], joining }
  const { resourceVersion } = metadata
  await client
    .subresource(SqlDatabase, 'status')
    .patch(metadata, { metadata: { resourceVersion }, status: { topology: decided } }, { signal })
  const isFailOver = status?.topology !== undefined && status.topology.epoch < topology.epoch
  event(isFailOver ? 'Warning' : 'Normal', isFailOver ? 'FailedOver' : 'TopologyChanged', why)
  return topology
}

/**
 * Carries out a step. Resolves with true when an instance rejected it because of a newer decision, which the next
 * reconcile observes.
 */
async function carryOut(
  step: Step,
  database: SqlDatabase,
  view: View,
  { database: instances, sites }: SqlWorld,
  { apply, client, event, signal }: Context,
): Promise<boolean> {
  const { name, namespace = '' } = database.metadata
  const { topology } = view.facts
  const urlOf = (instance: string): string => {
    const ordinal = Number(instance.slice(name.length + 1))
    return sites({ name, namespace }, ordinal).url
  }
  try {
    if (step.do === 'start') {
      await apply(instanceServiceFor(database, step.ordinal))
      await apply(podFor(database, step.ordinal, sites({ name, namespace }, step.ordinal)))
    } else if (step.do === 'stop') {
      const { metadata } = view.instances.get(step.name)!.pod
      await client.delete(Pod, metadata, { preconditions: { uid: metadata.uid }, signal })
    } else if (step.do === 'promote' && topology !== undefined) {
      const synchronous: Peer[] = synchronousOf(topology).map((peer) => ({ name: peer, url: urlOf(peer) }))
      const { epoch, revision } = topology
      await instances.promote(urlOf(topology.primary), { id: step.id, epoch, revision, synchronous }, { signal })
    } else if (step.do === 'feed' && topology !== undefined) {
      const snapshot = await instances.snapshot(urlOf(topology.primary), topology.epoch, { signal })
      await instances.restore(urlOf(step.name), { ...snapshot, id: step.id }, { signal })
      event(
        'Normal',
        'ReplicaFed',
        `Restored ${step.name} from a snapshot of ${topology.primary} with ${snapshot.rows.length} rows`,
      )
    }
    return false
  } catch (error) {
    if (error instanceof Fenced) return true
    if (isNotFound(error)) return false
    throw error
  }
}

/** Applies the Services: one for each instance and one for the primary. */
async function applyServices(database: SqlDatabase, view: View, step: Step, context: Context): Promise<void> {
  const { apply, children, client, signal } = context
  const topology = step.do === 'decide' ? step.topology : view.facts.topology
  const primary = topology?.isInitialised ? view.instances.get(topology.primary) : undefined
  const wanted = [...view.instances.values()].map(({ ordinal }) => instanceServiceFor(database, ordinal))
  if (primary !== undefined) wanted.push(primaryServiceFor(database, primary.ordinal))
  for (const service of wanted) await apply(service)
  if (step.do !== 'nothing') return
  for (const { metadata } of await children(Service)) {
    if (wanted.some((service) => service.metadata.name === metadata.name)) continue
    await client.delete(Service, metadata, { preconditions: { uid: metadata.uid }, signal })
  }
}

function statusOf({ facts, instances }: View, step: Step, topology: Topology | undefined) {
  const all = [...instances.values()]
  const primary = all.find(({ role }) => role === 'Primary')
  const isServing = primary !== undefined && topology?.isInitialised === true
  const inSync = all.filter(({ role }) => role === 'Primary' || role === 'Replica').length
  const isRedundant = step.do === 'nothing' && inSync === facts.wanted
  return {
    instances: all.map(({ lag, name, role, since }) => ({ name, role, since, ...(lag === undefined ? {} : { lag }) })),
    current: all.filter(({ isStopping }) => !isStopping).length,
    conditions: [
      isServing
        ? condition('Available', true, 'Primary', `${primary.name} accepts writes`)
        : condition('Available', false, step.do === 'wait' ? step.reason : 'NoPrimary', describe(step)),
      condition(
        'Redundant',
        isRedundant,
        isRedundant ? 'InSync' : 'Changing',
        isRedundant ? `${inSync} in sync` : describe(step),
      ),
    ],
  }
}

function describe(step: Step): string {
  switch (step.do) {
    case 'start':
      return `starting instance ${step.ordinal}`
    case 'stop':
      return `stopping ${step.name}`
    case 'decide':
      return step.why
    case 'promote':
      return 'updating the replicas that the primary waits for'
    case 'feed':
      return `restoring ${step.name} from a snapshot`
    case 'wait':
      return waitTexts[step.reason]
    case 'nothing':
      return 'nothing to do'
  }
}

const waitTexts = {
  Starting: 'waiting for an instance to start',
  PrimarySilent: 'the primary does not respond',
  NoCandidate: 'the primary is lost, and no responding replica has every confirmed row',
  ReplicaSilent: 'a replica does not respond',
} as const
