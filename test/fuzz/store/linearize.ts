// Decides whether the calls to one key can be put into an order that explains all their outcomes and respects real time: each call
// takes effect at one moment between its call and its response. The method is that of Lowe's just-in-time linearization: all states
// that are possible after each response are kept, with the calls in progress that have taken effect in them.
import type { ReadCall, Seen, WriteCall } from './history.ts'

export type KeyCall = WriteCall | ReadCall

/** The key after some calls. */
interface State {
  readonly entry: Seen | undefined
  /** The largest revision of its writes. */
  readonly last: number
}

/** A possible state, and the calls without a response so far that have taken effect in it. */
interface Possibility {
  readonly state: State
  readonly done: ReadonlySet<KeyCall>
}

/** Returns the calls around the first outcome that no order explains; undefined when there is an order. */
export function findUnexplained(
  calls: readonly KeyCall[],
  revisionOf: (value: string) => number | undefined,
): readonly KeyCall[] | undefined {
  const relevant = calls.filter((call) => isRelevant(call, revisionOf))
  const times = relevant.flatMap((call) => [
    { time: call.call, call, isEnd: false },
    ...(endOf(call) === Number.POSITIVE_INFINITY ? [] : [{ time: call.end, call, isEnd: true }]),
  ])
  times.sort((a, b) => a.time - b.time)
  const names = new Map(relevant.map((call, i) => [call, i]))
  let possible: Possibility[] = [{ state: { entry: undefined, last: 0 }, done: new Set() }]
  const open = new Set<KeyCall>()
  for (const { call, isEnd } of times) {
    if (!isEnd) {
      open.add(call)
      continue
    }
    const next = explain(possible, open, call, { revisionOf, names })
    if (next.length === 0) {
      const before = relevant.filter((one) => endOf(one) < call.end).slice(-6)
      return [...new Set([...before, ...open])].sort((a, b) => a.call - b.call)
    }
    open.delete(call)
    possible = forgetPast(open, next, revisionOf)
  }
  return undefined
}

const endOf = (call: KeyCall): number =>
  call.kind === 'write' && call.outcome === 'unknown' ? Number.POSITIVE_INFINITY : call.end

/**
 * A write with an unknown outcome whose value nobody saw has no effect on others: a later write of the key would have to name its
 * revision. Its deletion leaves no value and may matter.
 */
function isRelevant(call: KeyCall, revisionOf: (value: string) => number | undefined): boolean {
  if (call.kind === 'read') return call.at === undefined && !('error' in call.outcome)
  if (call.outcome === 'refused') return false
  return call.outcome !== 'unknown' || call.value === undefined || revisionOf(call.value) !== undefined
}

/** All states in which the call has taken effect, directly or after other calls in progress. */
function explain(
  possible: readonly Possibility[],
  open: ReadonlySet<KeyCall>,
  call: KeyCall,
  { revisionOf, names }: { revisionOf: (value: string) => number | undefined; names: ReadonlyMap<KeyCall, number> },
): Possibility[] {
  const found = new Map<string, Possibility>()
  const visited = new Set<string>()
  const nameOf = ({ state, done }: Possibility): string =>
    `${state.entry?.mod}/${state.last}/${[...done].map((one) => names.get(one)).sort()}`
  const visit = (one: Possibility): void => {
    const name = nameOf(one)
    if (visited.has(name)) return
    visited.add(name)
    if (one.done.has(call)) {
      const done = new Set(one.done)
      done.delete(call)
      const rest = { state: one.state, done }
      found.set(nameOf(rest), rest)
      return
    }
    for (const other of open) {
      if (one.done.has(other)) continue
      const state = apply(one.state, other, revisionOf)
      if (state) visit({ state, done: new Set([...one.done, other]) })
    }
  }
  for (const one of possible) visit(one)
  return [...found.values()]
}

/** Forgets calls without a response that have taken effect, or no longer can, in each state. */
function forgetPast(
  open: Set<KeyCall>,
  possible: readonly Possibility[],
  revisionOf: (value: string) => number | undefined,
): Possibility[] {
  const past = new Set<KeyCall>()
  for (const call of open) {
    if (call.kind !== 'write' || call.outcome !== 'unknown') continue
    const { expected, value } = call
    const revision = value === undefined ? undefined : revisionOf(value)
    // Revisions grow, so a state that has passed the expected one does not return to it. A key may become absent again.
    const isPast = ({ entry, last }: State): boolean =>
      expected > 0 ? last >= expected && entry?.mod !== expected : revision !== undefined && last >= revision
    if (possible.every(({ state, done }) => done.has(call) || isPast(state))) past.add(call)
  }
  for (const call of past) open.delete(call)
  if (past.size === 0) return [...possible]
  return possible.map(({ state, done }) => ({ state, done: new Set([...done].filter((call) => !past.has(call))) }))
}

/** The state after the call; undefined when the call cannot have this outcome in the state. */
function apply(state: State, call: KeyCall, revisionOf: (value: string) => number | undefined): State | undefined {
  const { entry, last } = state
  if (call.kind === 'read') {
    if ('error' in call.outcome) return undefined
    return isSame(entry, call.outcome.entry) ? state : undefined
  }
  const { outcome, value, expected } = call
  const holds = (entry?.mod ?? 0) === expected && (value !== undefined || entry !== undefined)
  if (outcome === 'refused') return undefined
  if (outcome !== 'unknown' && !outcome.made)
    return !holds && (outcome.current === 'untold' || isSame(entry, outcome.current)) ? state : undefined
  if (!holds) return undefined
  const known = outcome === 'unknown' ? undefined : outcome
  if (known && known.previous !== 'untold' && !isSame(entry, known.previous)) return undefined
  const revision = known?.revision ?? (value === undefined ? undefined : revisionOf(value))
  if (revision !== undefined && revision <= last) return undefined
  if (value === undefined) return { entry: undefined, last: revision ?? last }
  if (revision === undefined) return undefined
  return { entry: { key: call.key, value, mod: revision, create: entry ? entry.create : revision }, last: revision }
}

/** Whether two views of a key agree. */
export function isSame(a: Seen | undefined, b: Seen | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const isCreated = a.create === undefined || b.create === undefined || a.create === b.create
  return a.key === b.key && a.value === b.value && a.mod === b.mod && isCreated
}
