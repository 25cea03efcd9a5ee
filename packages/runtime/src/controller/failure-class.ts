import { findCause, isApiError, isConflict, isNotFound, suggestedDelaySeconds } from '@kubewright/api'
import { isKubewrightError } from '@kubewright/base'
import type { RetryLater } from './reconcile-errors.ts'

/** What has to be done about something that a reconcile threw. */
export type FailureClass =
  | { readonly class: 'terminal' }
  /** Wait for so many milliseconds, without counting it as a failure. */
  | { readonly class: 'retry-later'; readonly after: number }
  /** Somebody else was faster: look again soon, and quietly. */
  | { readonly class: 'conflict' }
  /** `atLeast`: the milliseconds that the server asked to wait. `panic`: the program made a mistake. */
  | { readonly class: 'error'; readonly atLeast: number; readonly panic: boolean }

/**
 * Tells failures apart. `isGoing` says whether the object of the key is gone or being deleted: then it is to be expected that parts
 * of it, or its namespace, cannot be found.
 */
export function classifyFailure(error: unknown, isGoing: () => boolean): FailureClass {
  if (inChain(error, (each) => isKubewrightError(each, 'KW_TERMINAL')) !== undefined) return { class: 'terminal' }
  const later = inChain(error, (each) => isKubewrightError(each, 'KW_RETRY_LATER'))
  // The code belongs to that class alone.
  if (later !== undefined) return { class: 'retry-later', after: (later as RetryLater).after }
  if (isStale(error) || (goesWithObject(error) && isGoing())) return { class: 'conflict' }
  return { class: 'error', atLeast: (suggestedDelaySeconds(error) ?? 0) * 1000, panic: isProgramError(error) }
}

// A conflict of field managers does not go away by itself, so it is a failure like others.
function isStale(error: unknown): boolean {
  return isConflict(error) && findCause(error, 'FieldManagerConflict') === undefined
}

function goesWithObject(error: unknown): boolean {
  return isNotFound(error) || findCause(error, 'NamespaceTerminating') !== undefined
}

/**
 * What Go would call a panic: something that is not an Error, or an error of the language itself. Those with a cause, such as
 * `TypeError: fetch failed`, are how libraries report failures.
 */
function isProgramError(error: unknown): boolean {
  if (!(error instanceof Error)) return !isApiError(error)
  const ofLanguage = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  return ofLanguage && error.cause === undefined
}

function inChain(error: unknown, matches: (error: unknown) => boolean): unknown {
  for (let depth = 0; depth < 16; depth++) {
    if (matches(error)) return error
    if (!(error instanceof Error) || error.cause === undefined) return undefined
    error = error.cause
  }
  return undefined
}
