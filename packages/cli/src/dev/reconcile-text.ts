import { formatDuration } from '@kubewright/base'
import type { CountedCause, ReconcileRecord } from '@kubewright/runtime'

const shownCauses = 2
const shownPaths = 3

/** The short name of an object: `home/cosy`, with its namespace unless that is `default`. */
export function subjectOf(controller: string, key: string): string {
  const slash = key.lastIndexOf('/')
  const namespace = key.slice(0, Math.max(slash, 0))
  const name = `${controller}/${key.slice(slash + 1)}`
  return namespace === '' || namespace === 'default' ? name : `${name} in ${namespace}`
}

/** The result of a reconcile in a few words, without its error. */
export function resultOf({ result, durationMillis, requeueAfterMillis }: ReconcileRecord): string {
  const took = durationMillis < 1 ? '<1 ms' : `${Math.round(durationMillis)} ms`
  const delay =
    requeueAfterMillis === undefined ? undefined : formatDuration(Math.max(Math.round(requeueAfterMillis), 1))
  switch (result) {
    case 'success':
    case 'requeue_after':
      return `reconciled in ${took}${delay === undefined ? '' : `, requeued after ${delay}`}`
    case 'conflict':
      return `conflict after ${took}${retryIn(delay)}`
    case 'error':
      return `failed after ${took}${retryIn(delay)}`
    case 'terminal_error':
      return `failed after ${took}, no retry until something changes`
  }
}

function retryIn(delay: string | undefined): string {
  return delay === undefined ? '' : `, retry in ${delay}`
}

/**
 * The causes of a reconcile: `because Deployment default/cosy changed status.readyReplicas`. `kind` is that of the controller, such as
 * `apps/v1 Deployment`; its object is called `it`.
 */
export function reasonOf({ key, causes }: Pick<ReconcileRecord, 'key' | 'causes'>, kind?: string): string {
  // A retry is only worth mentioning if there is no other cause: the failure itself was logged.
  const others = causes.filter(({ event }) => event !== 'retry')
  const texts = (others.length === 0 ? causes : others).map((cause) => causeText(cause, key, kind))
  if (texts.length === 0) return ''
  const more = texts.length > shownCauses ? `, and ${texts.length - shownCauses} more` : ''
  return `because ${texts.slice(0, shownCauses).join(' and ')}${more}`
}

function causeText(cause: CountedCause, key: string, ownKind: string | undefined): string {
  const { event, kind = '', object } = cause
  const isOwn = object === key && (ownKind === undefined || kind === ownKind)
  const subject = object === undefined || isOwn ? 'it' : `${kind.split(' ').at(-1)} ${object}`
  switch (event) {
    case 'add':
      return `${subject} appeared`
    case 'update':
      return `${subject} changed${changes(cause)}`
    case 'delete':
      return `${subject} was deleted`
    case 'resync':
      return 'of the periodic resync'
    case 'retry':
      return 'the last attempt failed'
    case 'requeue':
      return 'it was requeued'
    case 'other':
      return object === undefined ? 'a source of the controller named it' : `${subject} was named by a source`
  }
}

function changes({ paths = [], by = [] }: CountedCause): string {
  // These change along with any other field.
  const significant = paths.filter(
    (path) => !/^metadata\.(resourceVersion|managedFields|generation)\b|last-applied/.test(path),
  )
  const shown = significant.length === 0 ? paths : significant
  if (shown.length === 0) return ''
  const more = shown.length > shownPaths ? `, ${shown.length - shownPaths} more` : ''
  const who = by.length === 0 ? '' : ` (by ${by.join(', ')})`
  return ` ${shown.slice(0, shownPaths).join(', ')}${more}${who}`
}
