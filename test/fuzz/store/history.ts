// What concurrent clients of a store did and saw. Times are numbers of one counter, so they order calls and responses.

/** An entry as a client saw it. Every write has a value of its own. */
export interface Seen {
  readonly key: string
  readonly value: string
  readonly mod: number
  /** Undefined where the interface does not tell it. */
  readonly create: number | undefined
}

/** Why a call has no result. */
export type Failure =
  | { readonly error: 'compacted'; readonly floor: number | undefined }
  | { readonly error: 'future' }
  /** The store is closed, cannot be reached or was killed. */
  | { readonly error: 'failed' }

/** The outcome of a conditional write. */
export type WriteOutcome =
  /** The revision is undefined where the interface does not tell it. */
  | { readonly made: true; readonly revision: number | undefined; readonly previous: Seen | undefined | 'untold' }
  | { readonly made: false; readonly revision: number | undefined; readonly current: Seen | undefined | 'untold' }
  /** The store states that it was not made. */
  | 'refused'
  /** It may have been made, or may be made later. */
  | 'unknown'

interface Call {
  readonly client: string
  readonly call: number
  /** When the response came; infinity when there was none. */
  readonly end: number
}

/** A conditional write. */
export interface WriteCall extends Call {
  readonly kind: 'write'
  readonly key: string
  /** Undefined deletes the key. */
  readonly value: string | undefined
  readonly expected: number
  readonly outcome: WriteOutcome
}

/** A read of one key. */
export interface ReadCall extends Call {
  readonly kind: 'read'
  readonly key: string
  /** The requested revision; undefined for the newest. */
  readonly at: number | undefined
  readonly outcome: Failure | { readonly entry: Seen | undefined; readonly revision: number | undefined }
}

/** One page of a range. */
export interface PageCall extends Call {
  readonly kind: 'page'
  readonly prefix: string
  readonly after: string
  readonly limit: number
  readonly at: number | undefined
  readonly outcome:
    | Failure
    | { readonly entries: readonly Seen[]; readonly revision: number; readonly remaining: number }
}

/** A compaction. */
export interface CompactCall extends Call {
  readonly kind: 'compact'
  readonly revision: number
  readonly made: boolean
}

export type Operation = WriteCall | ReadCall | PageCall | CompactCall

/** A change that a watch delivered. */
export interface WatchEvent {
  readonly type: 'put' | 'delete'
  readonly key: string
  readonly revision: number
  readonly value: string | undefined
  readonly previous: Seen | undefined | 'untold'
}

/** A watch from its start to its end. A client that resumes starts another one. */
export interface WatchCall extends Call {
  readonly kind: 'watch'
  readonly prefix: string
  readonly after: number
  readonly events: readonly WatchEvent[]
  /** Every change up to this revision was delivered. */
  readonly until: number
  /** Why it ended; undefined when the client ended it. */
  readonly failure: Failure | undefined
}

/** The record of one run. */
export interface History {
  /** The revision at which the record starts. All keys are absent then. */
  readonly start: number
  readonly operations: readonly Operation[]
  readonly watches: readonly WatchCall[]
  /** When the store was restarted, and the oldest revision that it had to be able to read from then on. */
  readonly restarts: readonly { readonly time: number; readonly floor: number }[]
  /** Whether every revision is a write of these clients. */
  readonly dense: boolean
  /** Whether the store may compact by itself. */
  readonly trims: boolean
}

/** A contradiction between the record and the contract of stores. */
export interface Violation {
  readonly rule:
    | 'linearizable'
    | 'real-time order'
    | 'one revision'
    | 'no revision twice'
    | 'watch'
    | 'compaction'
    | 'known values'
    | 'availability'
  readonly message: string
  /** The part of the history that shows it, in the order of the calls. */
  readonly part: readonly (Operation | WatchCall)[]
}

/** One line for a person. */
export function describeCall(call: Operation | WatchCall): string {
  const time = `${String(call.call).padStart(7)}–${String(call.end === Number.POSITIVE_INFINITY ? '' : call.end).padEnd(7)} ${call.client.padEnd(4)}`
  const at = 'at' in call && call.at !== undefined ? ` at ${call.at}` : ''
  switch (call.kind) {
    case 'write': {
      const what = call.value === undefined ? `delete ${call.key}` : `put ${call.key}=${call.value}`
      return `${time} ${what} if ${call.expected} → ${JSON.stringify(call.outcome)}`
    }
    case 'read':
      return `${time} get ${call.key}${at} → ${JSON.stringify(call.outcome)}`
    case 'page':
      return `${time} list ${call.prefix} after "${call.after}" limit ${call.limit}${at} → ${JSON.stringify(call.outcome)}`
    case 'compact':
      return `${time} compact ${call.revision} → ${call.made ? 'made' : 'failed'}`
    case 'watch':
      return `${time} watch ${call.prefix} after ${call.after} until ${call.until} → ${call.events.map(({ type, key, revision }) => `${revision} ${type} ${key}`).join(', ')} ${JSON.stringify(call.failure)}`
  }
}
