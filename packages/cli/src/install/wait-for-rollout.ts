import { type Clock, type Duration, formatDuration, KubewrightError, withDeadline } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition, Deployment, Pod } from '@kubewright/k8s'
import { plural } from '../text/plural.ts'
import { watchUntil } from './watch-until.ts'

/** The options of all waits. */
export interface WaitOptions {
  readonly client: ApiClient
  readonly clock: Clock
  readonly timeout: Duration
  readonly signal: AbortSignal
  /** Called with the reason for waiting whenever it changes. */
  readonly onWait: (text: string) => void
}

/** Waits until a CRD is served. */
export async function waitForDefinition(name: string, options: WaitOptions): Promise<void> {
  const { client, clock, timeout, signal, onWait } = options
  let isShown = false
  let why = 'the API server has not processed it'
  const work = (inner: AbortSignal) =>
    watchUntil(client, CustomResourceDefinition, { name, signal: inner }, (crd) => {
      const conditions = crd?.status?.conditions ?? []
      const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
      if (refused) why = `its names are not accepted: ${refused.message}`
      const isServed = conditions.some(({ type, status }) => type === 'Established' && status === 'True')
      if (!isServed && !isShown) onWait(`Waiting for ${name} to be served`)
      isShown = true
      return isServed
    })
  await inTime(
    withDeadline(clock, timeout, name, work, { signal }),
    () => `${name} is not served`,
    timeout,
    async () => `: ${why}`,
  )
}

/** Waits until the rollout of a Deployment is complete and all replicas are available. */
export async function waitForRollout(
  { name, namespace }: { readonly name: string; readonly namespace: string },
  options: WaitOptions,
): Promise<void> {
  const { client, clock, timeout, signal, onWait } = options
  let state = ''
  const work = (inner: AbortSignal) =>
    watchUntil(client, Deployment, { name, namespace, signal: inner }, (deployment) => {
      if (deployment === undefined) return false
      const next = rolloutState(deployment)
      if (next.text !== state && !next.isDone) onWait(`Waiting for the Deployment ${name}: ${next.text}`)
      state = next.text
      return next.isDone
    })
  const waiting = withDeadline(clock, timeout, name, work, { signal })
  await inTime(
    waiting,
    () => `The Deployment ${namespace}/${name} is not available (${state})`,
    timeout,
    async () => `\n${await podTroubles(client, name, namespace)}`,
  )
}

function rolloutState({ metadata, spec, status = {} }: Deployment): { isDone: boolean; text: string } {
  const wanted = spec?.replicas ?? 1
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status
  if (observedGeneration < (metadata.generation ?? 0)) return { isDone: false, text: 'not observed yet' }
  if (updatedReplicas < wanted) return { isDone: false, text: `${updatedReplicas} of ${wanted} replicas are updated` }
  if (replicas > updatedReplicas) {
    return { isDone: false, text: `${plural(replicas - updatedReplicas, 'old replica')} left` }
  }
  return { isDone: availableReplicas >= wanted, text: `${availableReplicas} of ${wanted} replicas are available` }
}

/** The reasons why the pods of a Deployment do not run. */
async function podTroubles(client: ApiClient, name: string, namespace: string): Promise<string> {
  const deployment = await client.get(Deployment, { name, namespace })
  const pods = await client.list(Pod, { namespace, selector: deployment.spec?.selector as never })
  const troubles = new Set<string>()
  for (const { status } of pods) {
    for (const { type, status: is, message } of status?.conditions ?? []) {
      if (type === 'PodScheduled' && is === 'False') troubles.add(message ?? 'no node fits the pod')
    }
    for (const { state, lastState } of status?.containerStatuses ?? []) {
      const { waiting } = state ?? {}
      if (waiting) troubles.add([waiting.reason, waiting.message].filter(Boolean).join(': '))
      const ended = lastState?.terminated
      if (ended) troubles.add(`the last run exited with code ${ended.exitCode}`)
    }
  }
  const see = ['See', `  kubectl -n ${namespace} describe pods`, `  kubectl -n ${namespace} logs deployment/${name}`]
  if (pods.length === 0)
    return 'It has no pods: check its Warning events, and that the cluster runs the deployment controller'
  return [...troubles, ...see].join('\n')
}

async function inTime(
  waiting: Promise<unknown>,
  problem: () => string,
  timeout: Duration,
  why: () => Promise<string>,
): Promise<void> {
  try {
    await waiting
  } catch (error) {
    if (!(error instanceof KubewrightError) || error.code !== 'KW_DEADLINE_EXCEEDED') throw error
    throw new KubewrightError('KW_DEPLOY', `${problem()} after ${formatDuration(timeout)}${await why()}`, {
      cause: error,
    })
  }
}
