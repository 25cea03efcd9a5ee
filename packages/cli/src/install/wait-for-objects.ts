import { formatDuration, KubewrightError, withDeadline } from '@kubewright/base'
import type { DynamicObject } from '@kubewright/client'
import { isReady } from '@kubewright/runtime'
import type { Manifest } from '../manifests/manifest.ts'
import { kindOf } from './installed-object.ts'
import { type WaitOptions, waitForRollout } from './wait-for-rollout.ts'
import { WarningEvents } from './warning-events.ts'
import { watchUntil } from './watch-until.ts'

// Objects of other kinds are ready when they exist.
const waited = ['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'Pod', 'Certificate']

/** The options of {@link waitForObjects}. */
export interface WaitForObjectsOptions extends WaitOptions {
  /** Called with each Warning event of the objects and of the objects that they create. */
  readonly onEvent: (text: string) => void
  /** Called for each object that becomes ready, with the time that it took. */
  readonly onReady: (object: Manifest, took: string) => void
}

/**
 * Waits until all workloads among the objects are ready, at the same time. Shows the states of those that are not, and
 * their Warning events. Rejects with the problem of the first object that is not ready in time, after all others have
 * ended.
 */
export async function waitForObjects(objects: readonly Manifest[], options: WaitForObjectsOptions): Promise<void> {
  const targets = objects.filter(({ kind }) => waited.includes(kind))
  if (targets.length === 0) return
  const { clock, client, onEvent, onReady, onWait } = options
  const states = new Map<Manifest, string>()
  const stop = new AbortController()
  const signal = AbortSignal.any([options.signal, stop.signal])
  const events = new WarningEvents({ client, objects: targets, signal, onEvent })
  const watching = events.watch()
  const startedAt = clock.monotonic()
  const results = await Promise.allSettled(
    targets.map(async (target) => {
      const onState = (text: string): void => {
        states.set(target, text)
        const others = [...states.values()].filter((state) => state !== text)
        onWait(others.length === 0 ? text : `${text} (and ${others.length} more)`)
      }
      await waitForObject(target, { ...options, onWait: onState })
      states.delete(target)
      const [next] = states.values()
      onReady(target, formatDuration(Math.round((clock.monotonic() - startedAt) / 1000) * 1000))
      if (next !== undefined) onWait(next)
    }),
  )
  const failed = results.find((result) => result.status === 'rejected')
  if (failed !== undefined) await events.reportAll()
  stop.abort()
  await watching
  if (failed !== undefined) throw failed.reason
}

async function waitForObject(target: Manifest, options: WaitOptions): Promise<void> {
  const { kind, metadata } = target
  const { name, namespace = 'default' } = metadata
  if (kind === 'Deployment') return waitForRollout({ name, namespace }, options)
  const { client, clock, timeout, signal, onWait } = options
  const of = await kindOf(client, target, signal)
  let text = ''
  const isDone = (found: DynamicObject | undefined): boolean => {
    if (found !== undefined && isReady({ ...found, apiVersion: target.apiVersion, kind })) return true
    const next = `Waiting for the ${kind} ${name}: ${found === undefined ? 'not found' : 'not ready'}`
    if (next !== text) onWait(next)
    text = next
    return false
  }
  try {
    const work = (inner: AbortSignal) => watchUntil(client, of, { name, namespace, signal: inner }, isDone)
    await withDeadline(clock, timeout, name, work, { signal })
  } catch (error) {
    if (!(error instanceof KubewrightError) || error.code !== 'KW_DEADLINE_EXCEEDED') throw error
    const see = `kubectl -n ${namespace} describe ${kind.toLowerCase()} ${name}`
    throw new KubewrightError(
      'KW_DEPLOY',
      `The ${kind} ${namespace}/${name} is not ready after ${formatDuration(timeout)}\nSee\n  ${see}`,
      {
        cause: error,
      },
    )
  }
}
