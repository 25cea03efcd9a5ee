import { deepEqual } from './deep-equal.ts'
import type { DeepMutable } from './deep-readonly.ts'
import { requirePlain } from './internal/require-plain.ts'

/** A draft in progress: see `createDraft`. */
export interface DraftHandle<T> extends Disposable {
  /** The draft: behaves like a mutable copy of the base. */
  readonly draft: DeepMutable<T>
  /** Ends the draft and returns the changed value. Further calls return the same value. */
  finish(): T
  /** Ends the draft without a result. Has no effect after `finish`. */
  discard(): void
}

type Json = Record<string, unknown>

interface Session {
  readonly revokes: (() => void)[]
  // Whether results are frozen: they are if the base is.
  readonly freeze: boolean
}

// Maps each proxy, of all sessions, to its node.
const nodes = new WeakMap<object, DraftNode>()

/**
 * Applies `recipe` to a draft of `base` and returns the changed value. `base` itself never changes.
 *
 * - The result shares unchanged parts with the base. It is the base itself if and only if the two are `deepEqual`.
 * - If the base is frozen, the result is deeply frozen. Objects that the recipe inserted are copied, not frozen in
 *   place.
 * - The draft and all its parts are revoked at the end: using a reference that the recipe kept throws.
 *
 * The recipe must be synchronous; use `createDraft` around asynchronous work. Its return value is ignored.
 *
 * @example
 * const next = produce(home, (draft) => {
 *   draft.metadata.labels.tier = 'web'
 * })
 */
export function produce<T extends object>(base: T, recipe: (draft: DeepMutable<T>) => void): T {
  const handle = createDraft(base)
  try {
    const returned: unknown = recipe(handle.draft)
    if (returned instanceof Promise) {
      returned.catch(() => undefined)
      throw new TypeError('Cannot produce with an asynchronous recipe: use createDraft and finish')
    }
    return handle.finish()
  } finally {
    handle.discard()
  }
}

/** Starts a draft of `base` with the guarantees of `produce`. End it with `finish` or `discard`. */
export function createDraft<T extends object>(base: T): DraftHandle<T> {
  const session: Session = { revokes: [], freeze: Object.isFrozen(base) }
  const draft = open(session, base as Json)
  let result: T | undefined
  let ended = false
  const discard = (): void => {
    ended = true
    for (const revoke of session.revokes.splice(0)) revoke()
  }
  const finish = (): T => {
    if (result === undefined) {
      if (ended) throw new TypeError('Cannot finish draft: it was discarded')
      try {
        result = resolve(session, draft) as T
      } finally {
        discard()
      }
    }
    return result
  }
  // The proxy behaves like a mutable copy of the base.
  return { draft: draft as DeepMutable<T>, finish, discard, [Symbol.dispose]: discard }
}

// One level of a draft: the traps of its proxy and the state that `finishNode` needs.
class DraftNode implements ProxyHandler<Json> {
  readonly session: Session
  readonly base: Json
  // A shallow copy of the base, the target of the proxy. A child that has been read is replaced by its proxy, so that
  // it keeps its changes when the recipe moves it.
  readonly target: Json
  result: Json | undefined
  finishing = false

  constructor(session: Session, base: Json) {
    requirePlain(base, 'draft')
    this.session = session
    this.base = base
    // Proxies see array indices as strings.
    this.target = (Array.isArray(base) ? base.slice() : { ...base }) as Json
  }

  get(target: Json, key: string | symbol): unknown {
    const value: unknown = Reflect.get(target, key)
    if (typeof value !== 'object' || value === null || nodes.has(value)) return value
    if (typeof key === 'symbol' || !Object.hasOwn(target, key)) return value
    // The recipe inserted this object and has not frozen it, so the recipe may change it directly.
    if (value !== this.base[key] && !Object.isFrozen(value)) return value
    const child = open(this.session, value as Json)
    put(target, key, child)
    return child
  }

  set(target: Json, key: string | symbol, value: unknown): boolean {
    return put(target, key, value)
  }

  defineProperty(target: Json, key: string | symbol, descriptor: PropertyDescriptor): boolean {
    if (descriptor.get ?? descriptor.set)
      throw new TypeError('Cannot define an accessor on a draft: it is not JSON data')
    return Reflect.defineProperty(target, key, descriptor)
  }

  // A frozen target, or one with another prototype, could not be finished.
  setPrototypeOf(): boolean {
    return false
  }

  preventExtensions(): boolean {
    return false
  }
}

function open(session: Session, base: Json): Json {
  const node = new DraftNode(session, base)
  const { proxy, revoke } = Proxy.revocable(node.target, node)
  nodes.set(proxy, node)
  session.revokes.push(revoke)
  return proxy
}

// Returns the final form of a value found in a draft: without proxies, and without mutable parts shared with the
// recipe.
function resolve(session: Session, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const node = nodes.get(value)
  if (node?.session === session) return finishNode(node)
  if (node?.result !== undefined) return node.result
  if (Object.isFrozen(value) && !containsDraft(value)) return value
  requirePlain(value, 'produce')
  const copy = (Array.isArray(value) ? [] : {}) as Json
  for (const key of Object.keys(value)) {
    put(copy, key, resolve(session, (value as Json)[key]))
  }
  return session.freeze ? Object.freeze(copy) : copy
}

function finishNode(node: DraftNode): Json {
  if (node.result !== undefined) return node.result
  if (node.finishing) throw new TypeError('Cannot finish draft: it contains itself')
  node.finishing = true
  const { session, base, target } = node
  let changed = countDefined(base) !== countDefined(target)
  if (Array.isArray(base) && Array.isArray(target)) changed ||= base.length !== target.length
  for (const key of Object.keys(target)) {
    const current = target[key]
    const original = Object.hasOwn(base, key) ? base[key] : undefined
    if (Object.is(current, original)) continue
    let resolved = resolve(session, current)
    // A child draft that is still in its place has been compared already and is the original if equal. Other values are
    // compared here.
    if (resolved !== original && !isDraftOf(current, original) && deepEqual(resolved, original)) resolved = original
    if (resolved !== current) put(target, key, resolved)
    changed ||= !Object.is(resolved, original)
  }
  node.result = changed ? target : base
  return changed && session.freeze ? Object.freeze(target) : node.result
}

function isDraftOf(value: unknown, original: unknown): boolean {
  return typeof value === 'object' && value !== null && nodes.get(value)?.base === original
}

function containsDraft(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return nodes.has(value) || Object.values(value).some(containsDraft)
}

// As in deepEqual, a property with the value undefined counts as absent.
function countDefined(object: Json): number {
  let count = 0
  for (const key in object) if (object[key] !== undefined) count++
  return count
}

// Sets a property. An assignment to `__proto__` would change the prototype, so that key is defined instead.
function put(target: Json, key: string | symbol, value: unknown): boolean {
  if (key !== '__proto__') return Reflect.set(target, key, value)
  return Reflect.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}
