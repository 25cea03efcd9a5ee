import { formatDuration } from '@kubewright/base'
import type { CountedCause, ReconcileRecord } from '@kubewright/runtime'

const shownCauses = 2
const shownPaths = 3

/** An object as people name it: `home/cosy`, with its namespace unless that is the default one. */
export function subjectOf(controller: string, key: string): string {
  const slash = key.lastIndexOf('/')
  const namespace = key.slice(0, Math.max(slash, 0))
  const name = `${controller}/${key.slice(slash + 1)}`
  return namespace === '' || namespace === 'default' ? name : `${name} in ${namespace}`
}

/** What a reconcile did, in a few words. Its error is not part of it. */
export function resultOf({ result, durationMillis, requeueAfterMillis }: ReconcileRecord): string {
  const took = durationMillis < 1 ? '<1 ms' : `${Math.round(durationMillis)} ms`
  const again =
    requeueAfterMillis === undefined ? '' : `, again in ${formatDuration(Math.max(Math.round(requeueAfterMillis), 1))}`
  switch (result) {
    case 'success':
    case 'requeue_after':
      return `reconciled in ${took}${again}`
    case 'conflict':
      return `met a newer state after ${took}${again}`
    case 'error':
      return `failed after ${took}${again}`
    case 'terminal_error':
      return `failed after ${took}, not again before something changes`
  }
}

/**
 * Why a reconcile happened: `because Deployment default/cosy changed status.readyReplicas`. `kind` is the one of the controller, such
 * as `apps/v1 Deployment`: its object is not named again.
 */
export function reasonOf({ key, causes }: Pick<ReconcileRecord, 'key' | 'causes'>, kind?: string): string {
  // A failure is told when it happens; what came besides says more.
  const telling = causes.filter(({ event }) => event !== 'retry')
  const texts = (telling.length === 0 ? causes : telling).map((cause) => causeText(cause, key, kind))
  if (texts.length === 0) return ''
  const more = texts.length > shownCauses ? `, and ${texts.length - shownCauses} more` : ''
  return `because ${texts.slice(0, shownCauses).join(' and ')}${more}`
}

function causeText(cause: CountedCause, key: string, ownKind: string | undefined): string {
  const { event, kind = '', object } = cause
  const isOwn = object === key && (ownKind === undefined || kind === ownKind)
  const who = object === undefined || isOwn ? 'it' : `${kind.split(' ').at(-1)} ${object}`
  switch (event) {
    case 'add':
      return `${who} appeared`
    case 'update':
      return `${who} changed${changes(cause)}`
    case 'delete':
      return `${who} was deleted`
    case 'resync':
      return 'it is looked at from time to time'
    case 'retry':
      return 'it failed before'
    case 'requeue':
      return 'it asked for it'
    case 'other':
      return object === undefined ? 'something asked for it' : `${who} asked for it`
  }
}

function changes({ paths = [], by = [] }: CountedCause): string {
  // What comes with other changes.
  const telling = paths.filter(
    (path) => !/^metadata\.(resourceVersion|managedFields|generation)\b|last-applied/.test(path),
  )
  const shown = telling.length === 0 ? paths : telling
  if (shown.length === 0) return ''
  const more = shown.length > shownPaths ? `, ${shown.length - shownPaths} more` : ''
  const who = by.length === 0 ? '' : ` (by ${by.join(', ')})`
  return ` ${shown.slice(0, shownPaths).join(', ')}${more}${who}`
}
