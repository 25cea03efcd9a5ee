// The messages of etcd's v3 API that the store uses. Field numbers are those of etcd's rpc.proto, kv.proto and auth.proto.
import { ProtoMessage, type WireReader } from '@kubewright/base/protobuf'
import type { Entry } from '../store/store.ts'

/** A half-open range of etcd's keys; a single key without an end. */
export interface KeyRange {
  readonly start: Uint8Array
  readonly end?: Uint8Array | undefined
}

/** A key of etcd at some revision. The key includes the store's prefix. */
export interface KeyValue {
  readonly key: Uint8Array
  readonly createRevision: number
  readonly modRevision: number
  /** The number of writes since the key was created. */
  readonly version: number
  readonly value: Uint8Array
}

export interface RangeResponse {
  readonly revision: number
  readonly kvs: readonly KeyValue[]
  /** The number of keys in the range, regardless of the limit. */
  readonly count: number
}

export interface TxnResponse {
  readonly revision: number
  readonly succeeded: boolean
  /** The key before the write, or the current key when the condition failed. */
  readonly kv: KeyValue | undefined
}

export interface WatchResponse {
  readonly revision: number
  readonly created: boolean
  readonly canceled: boolean
  readonly compactRevision: number
  readonly cancelReason: string
  readonly events: readonly {
    readonly deleted: boolean
    readonly kv: KeyValue
    readonly previous: KeyValue | undefined
  }[]
}

const keyRange = ({ start, end }: KeyRange): ProtoMessage => {
  const message = new ProtoMessage().bytes(1, start)
  return end === undefined ? message : message.bytes(2, end)
}

export function rangeRequest(
  range: KeyRange,
  options: {
    readonly limit?: number | undefined
    readonly revision?: number | undefined
    readonly countOnly?: boolean | undefined
  } = {},
): ProtoMessage {
  return keyRange(range).integer(3, options.limit).integer(4, options.revision).integer(9, options.countOnly)
}

const equal = 0
const modTarget = 2

/** The condition that the key's modification revision is `expected`. A missing key has revision 0. */
const modRevisionIs = (key: Uint8Array, expected: number): ProtoMessage =>
  new ProtoMessage().integer(1, equal).integer(2, modTarget).bytes(3, key).present(6, expected)

/**
 * Writes or, without a value, deletes the key at the expected revision. When the condition fails, returns the current
 * key.
 */
export function writeRequest(key: Uint8Array, value: Uint8Array | undefined, expected: number): ProtoMessage {
  const write =
    value === undefined
      ? new ProtoMessage().message(3, new ProtoMessage().bytes(1, key).integer(3, true))
      : new ProtoMessage().message(
          2,
          new ProtoMessage()
            .bytes(1, key)
            .bytes(2, value)
            .integer(4, expected !== 0),
        )
  return new ProtoMessage()
    .message(1, modRevisionIs(key, expected))
    .message(2, write)
    .message(3, new ProtoMessage().message(1, rangeRequest({ start: key })))
}

export const compactRequest = (revision: number): ProtoMessage => new ProtoMessage().integer(1, revision)

/** Watches the range from the revision on, with periodic progress notifications while nothing changes. */
export function watchRequest(range: KeyRange, startRevision: number, options: { previous: boolean }): ProtoMessage {
  const create = keyRange(range).integer(3, startRevision).integer(4, true).integer(6, options.previous)
  return new ProtoMessage().message(1, create)
}

/** Requests the progress of the stream's watches. The response arrives in order with the events. */
export const progressRequest = (): ProtoMessage => new ProtoMessage().message(3, new ProtoMessage())

export const authenticateRequest = (name: string, password: string): ProtoMessage =>
  new ProtoMessage().text(1, name).text(2, password)

export function readRange(reader: WireReader): RangeResponse {
  let revision = 0
  let count = 0
  const kvs: KeyValue[] = []
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = reader.message(readHeader)
    else if (field === 2) kvs.push(reader.message(readKeyValue))
    else if (field === 4) count = Number(reader.int64())
    else reader.skip()
  }
  return { revision, kvs, count }
}

export function readTxn(reader: WireReader): TxnResponse {
  let revision = 0
  let succeeded = false
  let kv: KeyValue | undefined
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = reader.message(readHeader)
    else if (field === 2) succeeded = reader.bool()
    else if (field === 3) kv = reader.message(readOperation)
    else reader.skip()
  }
  return { revision, succeeded, kv }
}

/** The key that an operation of {@link writeRequest} returned: from the range, or the one before the put or delete. */
function readOperation(reader: WireReader): KeyValue | undefined {
  let kv: KeyValue | undefined
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    // Range: field 2, put: field 2, delete: field 3.
    const wanted = field === 3 ? 3 : 2
    reader.message((response) => {
      for (let inner = response.next(); inner !== 0; inner = response.next()) {
        if (inner === wanted) kv = response.message(readKeyValue)
        else response.skip()
      }
    })
  }
  return kv
}

/** The revision in the header of a response. */
export function readRevision(reader: WireReader): number {
  let revision = 0
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) revision = reader.message(readHeader)
    else reader.skip()
  }
  return revision
}

/** The string in field 2: the token of an Authenticate response, the version of a Status response. */
export function readText(reader: WireReader): string {
  let text = ''
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 2) text = reader.string()
    else reader.skip()
  }
  return text
}

export function readWatch(reader: WireReader): WatchResponse {
  const response = { revision: 0, created: false, canceled: false, compactRevision: 0, cancelReason: '' }
  const events: WatchResponse['events'][number][] = []
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) response.revision = reader.message(readHeader)
    else if (field === 3) response.created = reader.bool()
    else if (field === 4) response.canceled = reader.bool()
    else if (field === 5) response.compactRevision = Number(reader.int64())
    else if (field === 6) response.cancelReason = reader.string()
    else if (field === 11) events.push(reader.message(readEvent))
    else reader.skip()
  }
  return { ...response, events }
}

function readEvent(reader: WireReader): WatchResponse['events'][number] {
  let deleted = false
  let kv = noKeyValue
  let previous: KeyValue | undefined
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) deleted = Number(reader.int64()) === 1
    else if (field === 2) kv = reader.message(readKeyValue)
    else if (field === 3) previous = reader.message(readKeyValue)
    else reader.skip()
  }
  return { deleted, kv, previous }
}

function readHeader(reader: WireReader): number {
  let revision = 0
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 3) revision = Number(reader.int64())
    else reader.skip()
  }
  return revision
}

const noKeyValue: KeyValue = {
  key: new Uint8Array(0),
  createRevision: 0,
  modRevision: 0,
  version: 0,
  value: new Uint8Array(0),
}

function readKeyValue(reader: WireReader): KeyValue {
  const kv = { ...noKeyValue }
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) kv.key = reader.bytes()
    else if (field === 2) kv.createRevision = Number(reader.int64())
    else if (field === 3) kv.modRevision = Number(reader.int64())
    else if (field === 4) kv.version = Number(reader.int64())
    // A copy, so that a small value does not keep a whole list response in memory.
    else if (field === 5) kv.value = Buffer.from(reader.bytes())
    else reader.skip()
  }
  return kv
}

/** Converts a key of etcd to an entry of the store. The first `prefixLength` bytes of the key are removed. */
export function toEntry(kv: KeyValue, prefixLength: number): Entry {
  const { value, createRevision, modRevision } = kv
  return { key: toKey(kv, prefixLength), value, createRevision, modRevision }
}

export function toKey({ key }: KeyValue, prefixLength: number): string {
  return Buffer.from(key.buffer, key.byteOffset + prefixLength, key.length - prefixLength).toString('utf8')
}
