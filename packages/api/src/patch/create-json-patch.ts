import { deepEqual } from '@kubewright/base'
import type { JsonPatchOperation } from './json-patch.ts'
import { isObject, type JsonObject } from './own-property.ts'

/**
 * The JSON patch that turns one document into the other: operations on the fields and items that differ, none when none does. Both
 * must be objects, or both arrays, unless they are equal.
 */
export function createJsonPatch(before: unknown, after: unknown): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = []
  diff('', before, after, operations)
  return operations
}

function diff(path: string, before: unknown, after: unknown, out: JsonPatchOperation[]): void {
  if (before === after) return
  if (isObject(before) && isObject(after)) {
    diffObjects(path, before, after, out)
  } else if (Array.isArray(before) && Array.isArray(after)) {
    diffArrays(path, before, after, out)
  } else if (!deepEqual(before, after)) {
    if (path === '' && (typeof after !== 'object' || after === null)) {
      throw new TypeError('Cannot create a JSON patch for a document that is neither an object nor an array')
    }
    out.push({ op: 'replace', path, value: after })
  }
}

function escapeStep(name: string): string {
  return name.replace(/~/g, '~0').replace(/\//g, '~1')
}

function diffObjects(path: string, before: JsonObject, after: JsonObject, out: JsonPatchOperation[]): void {
  for (const key of Object.keys(before)) {
    const there = Object.hasOwn(after, key) && after[key] !== undefined
    if (!there) {
      if (before[key] !== undefined) out.push({ op: 'remove', path: `${path}/${escapeStep(key)}` })
    } else if (before[key] !== undefined) {
      diff(`${path}/${escapeStep(key)}`, before[key], after[key], out)
    }
  }
  for (const key of Object.keys(after)) {
    if (after[key] === undefined || (Object.hasOwn(before, key) && before[key] !== undefined)) continue
    out.push({ op: 'add', path: `${path}/${escapeStep(key)}`, value: after[key] })
  }
}

/** Items are compared in place after a common head and tail, which covers appending, inserting and removing one run of items. */
function diffArrays(
  path: string,
  before: readonly unknown[],
  after: readonly unknown[],
  out: JsonPatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && deepEqual(before[head], after[head])) head++
  let tail = 0
  while (tail < shorter - head && deepEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])) tail++
  const beforeEnd = before.length - tail
  const afterEnd = after.length - tail
  const common = Math.min(beforeEnd, afterEnd)
  for (let i = head; i < common; i++) diff(`${path}/${i}`, before[i], after[i], out)
  // From the end, so that no removal moves what is still to be removed.
  for (let i = beforeEnd - 1; i >= common; i--) out.push({ op: 'remove', path: `${path}/${i}` })
  for (let i = common; i < afterEnd; i++) out.push({ op: 'add', path: `${path}/${i}`, value: after[i] })
}
