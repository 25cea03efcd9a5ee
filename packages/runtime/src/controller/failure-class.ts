import { findCause, isApiError, isConflict, isNotFound, suggestedDelaySeconds } from '@kubewright/api'
import { isKubewrightError } from '@kubewright/base'
import type { FailureOptions, RetryLater } from './reconcile-errors.ts'

/** The class of an error that a reconciler threw, which decides what happens next. */
export type FailureClass =
  | { readonly class: 'terminal' }
  /** Retry after `after` milliseconds; not counted as a failure. */
  | { readonly class: 'retry-later'; readonly after: number }
  /** The object has changed meanwhile: retry soon, without an error in the log. */
  | { readonly class: 'conflict' }
  /**
   * `atLeast`: the minimum delay that the server requested, in milliseconds. `panic`: a programming error.
   */
  | { readonly class: 'error'; readonly atLeast: number; readonly panic: boolean }

/**
 * Classifies an error. `isDeleted` states whether the object of the key is deleted or being deleted: then it is expected
 * that its children or its namespace are not found.
 */
export function classifyFailure(error: unknown, isDeleted: () => boolean): FailureClass {
  if (inChain(error, isTerminal) !== undefined) return { class: 'terminal' }
  const later = inChain(error, (each) => isKubewrightError(each, 'KW_RETRY_LATER'))
  // Only this class uses the code.
  if (later !== undefined) return { class: 'retry-later', after: (later as RetryLater).requeueAfter }
  const atLeast = (suggestedDelaySeconds(error) ?? 0) * 1000
  // The reconciler reported a failure, whatever caused it.
  if (inChain(error, isReported) !== undefined) return { class: 'error', atLeast, panic: false }
  if (isStale(error) || (isExpectedOnDeletion(error) && isDeleted())) return { class: 'conflict' }
  return { class: 'error', atLeast, panic: isProgramError(error) }
}

/** The fields of the status that an error, or one of its causes, changes. */
export function failureStatusOf(error: unknown): object | undefined {
  // Only these two classes use the codes.
  const statusOf = (each: unknown): object | undefined =>
    isTerminal(each) || isReported(each) ? (each as FailureOptions).mergeStatus : undefined
  return statusOf(inChain(error, (each) => statusOf(each) !== undefined))
}

const isTerminal = (error: unknown): boolean => isKubewrightError(error, 'KW_TERMINAL')
const isReported = (error: unknown): boolean => isKubewrightError(error, 'KW_RECONCILE')

// A field manager conflict does not resolve itself, so it is an ordinary failure.
function isStale(error: unknown): boolean {
  return isConflict(error) && findCause(error, 'FieldManagerConflict') === undefined
}

function isExpectedOnDeletion(error: unknown): boolean {
  return isNotFound(error) || findCause(error, 'NamespaceTerminating') !== undefined
}

/**
 * The equivalent of a Go panic: a thrown value that is not an Error, or an error of the language itself. Libraries
 * report failures as errors with a cause, such as `TypeError: fetch failed`, so those do not count.
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
