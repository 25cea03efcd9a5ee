import { deepCopy } from '@kubewright/base'

/** The maximum number of candidates for one object. */
const budget = 2000

type Step = string | number

/**
 * Finds a small object for which `fails` still returns true: removes fields and items and simplifies values, one at a
 * time, as long as that succeeds. Changes only the given top-level fields.
 */
export function shrinkObject<T extends object>(
  object: T,
  fields: readonly string[],
  fails: (candidate: T) => boolean,
): T {
  let smallest = object
  let tries = 0
  for (let progress = true; progress; ) {
    progress = false
    for (const candidate of candidates(smallest, fields)) {
      if (tries++ >= budget) return smallest
      if (!fails(candidate)) continue
      smallest = candidate
      progress = true
      break
    }
  }
  return smallest
}

function* candidates<T extends object>(object: T, fields: readonly string[]): Generator<T> {
  for (const field of fields) {
    if (field in object) yield* below(object, [field])
  }
}

/** The simpler objects that differ at a path or below it, those with the largest change first. */
function* below<T extends object>(object: T, path: readonly Step[]): Generator<T> {
  const value = at(object, path)
  if (path.length > 1) yield changed(object, path, undefined)
  if (typeof value === 'object' && value !== null) {
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) yield* below(object, [...path, key])
    return
  }
  for (const simpler of simplerThan(value)) yield changed(object, path, simpler)
}

function* simplerThan(value: unknown): Generator<unknown> {
  if (typeof value === 'string' && value !== '') {
    yield ''
    if (value.length > 1) yield value.slice(0, value.length >> 1)
  } else if (typeof value === 'number' && value !== 0) {
    yield 0
    if (Math.abs(value) > 1) yield Math.trunc(value / 2)
  } else if (value === true) yield false
}

function at(object: object, path: readonly Step[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<Step, unknown>)[step], object)
}

/** A copy with another value at the path; undefined removes the field or item. */
function changed<T extends object>(object: T, path: readonly Step[], value: unknown): T {
  // The copy has the same type, but is mutable.
  const copy = deepCopy(object) as T
  const parent = at(copy, path.slice(0, -1)) as Record<Step, unknown>
  const last = path.at(-1)!
  if (value !== undefined) parent[last] = value
  else if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
  return copy
}
