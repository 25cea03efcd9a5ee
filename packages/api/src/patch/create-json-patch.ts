import { deepEqual, isJsonObject } from '@kubewright/base'
import { getOwn, type JsonObject } from '../own-property.ts'
import type { JsonPatchOperation } from './json-patch.ts'

/**
 * Creates the JSON patch that turns `before` into `after`: operations only for the fields and items that differ. Both
 * documents must be objects or both arrays, unless they are equal.
 */
export function createJsonPatch(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  diff([], before, after, operations)
  return operations
}

/**
 * The path to the values being compared. Formatted to a JSON pointer only for operations, because most values are
 * equal.
 */
type Steps = (string | number)[]

function diff(steps: Steps, before: unknown, after: unknown, out: JsonPatchOperation[]): void {
  if (before === after) return
  if (isJsonObject(before) && isJsonObject(after)) {
    diffObjects(steps, before, after, out)
  } else if (Array.isArray(before) && Array.isArray(after)) {
    diffArrays(steps, before, after, out)
  } else if (!deepEqual(before, after)) {
    if (steps.length === 0 && (typeof after !== 'object' || after === null)) {
      throw new TypeError('Cannot create a JSON patch for a document that is neither an object nor an array')
    }
    out.push({ op: 'replace', path: pointer(steps), value: after })
  }
}

function diffAt(steps: Steps, step: string | number, before: unknown, after: unknown, out: JsonPatchOperation[]): void {
  if (before === after) return
  steps.push(step)
  diff(steps, before, after, out)
  steps.pop()
}

function pointer(steps: Steps, last?: string | number): string {
  let path = ''
  for (const step of steps) path += `/${escapeStep(step)}`
  return last === undefined ? path : `${path}/${escapeStep(last)}`
}

function escapeStep(step: string | number): string | number {
  return typeof step === 'number' ? step : step.replaceAll('~', '~0').replaceAll('/', '~1')
}

function diffObjects(steps: Steps, before: JsonObject, after: JsonObject, out: JsonPatchOperation[]): void {
  for (const key in before) {
    const old = before[key]
    if (old === undefined) continue
    const value = getOwn(after, key)
    if (value === undefined) out.push({ op: 'remove', path: pointer(steps, key) })
    else diffAt(steps, key, old, value, out)
  }
  for (const key in after) {
    if (after[key] === undefined || getOwn(before, key) !== undefined) continue
    out.push({ op: 'add', path: pointer(steps, key), value: after[key] })
  }
}

/**
 * Skips the common head and tail, then compares items by index. Appending, inserting or removing one run of items gives
 * a minimal patch.
 */
function diffArrays(
  steps: Steps,
  before: readonly unknown[],
  after: readonly unknown[],
  out: JsonPatchOperation[],
): void {
  let head = 0
  let tail = 0
  // Lists of equal length are compared by index, so head and tail need no special treatment.
  if (before.length !== after.length) {
    const shorter = Math.min(before.length, after.length)
    while (head < shorter && deepEqual(before[head], after[head])) head++
    while (tail < shorter - head && deepEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++
  }
  const beforeEnd = before.length - tail
  const afterEnd = after.length - tail
  const common = Math.min(beforeEnd, afterEnd)
  for (let i = head; i < common; i++) diffAt(steps, i, before[i], after[i], out)
  // Remove from the end, so that the indexes of the remaining removals stay valid.
  for (let i = beforeEnd - 1; i >= common; i--) out.push({ op: 'remove', path: pointer(steps, i) })
  for (let i = common; i < afterEnd; i++) out.push({ op: 'add', path: pointer(steps, i), value: after[i] })
}
