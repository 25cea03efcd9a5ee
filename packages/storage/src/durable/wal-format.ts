// The file format of a durable store, format 2. A log, a snapshot and a backup have the same structure: a header, then frames.
//
//   header  8 bytes magic with the format, 8 bytes revision (float64), 4 bytes CRC-32 of these sixteen
//           a log has the changes after the revision, a snapshot and a backup have the state at it
//   frame   4 bytes length of the payload, 4 bytes CRC-32 of the payload, 4 bytes CRC-32 of these eight, payload
//   payload records, one after the other
//   record  1 byte type, 8 bytes revision, 8 bytes create revision, 2 bytes key length, 4 bytes value length, key, value
//
// A log frame is one group commit. Each frame is one write, and the next write waits for it, so only the last frame can
// be incomplete. Zeros may follow it: the file grows in steps, so that most writes need no second access to the disk for the
// new size. The last frame of a snapshot or backup has one record of the type `end` with the number of entries, so a file that
// lost frames is recognised. Their entries are sorted by key.
//
// The marker of a store is a header alone: the store has had this revision, so its logs must reach it.
//
// Format 1 had neither the checksum of the header nor the end record. It is still read, see migrate() in open-store.ts.
import { crc32 } from 'node:zlib'

/** The format that this version writes. It reads this one and all earlier ones. */
export const storeFormat = 2

/** The kinds of files, by the first bytes of their magic. */
export type FileKind = 'log' | 'snapshot' | 'backup' | 'marker'

const magics: Readonly<Record<FileKind, string>> = { log: 'KWLOG', snapshot: 'KWSNP', backup: 'KWBAK', marker: 'KWNEW' }
/** The size of the header in the present format. */
export const headerSize = 20
const frameHeader = 12
const recordHeader = 23

/** The types of records. `file` is a file that a backup has besides the entries: the key is its path. */
export type RecordType = 'put' | 'delete' | 'end' | 'file'
const typeCodes: Readonly<Record<RecordType, number>> = { put: 1, delete: 2, end: 3, file: 4 }
const typesByCode: readonly (RecordType | undefined)[] = [undefined, 'put', 'delete', 'end', 'file']

/** One record of a file. */
export interface WalRecord {
  readonly type: RecordType
  readonly key: string
  /** Empty for a delete and an end. A record that was read shares the memory of the piece of the file around it. */
  readonly value: Uint8Array
  readonly revision: number
  /** The number of entries for an end. */
  readonly createRevision: number
}

/** The header of a file. */
export interface FileHeader {
  readonly format: number
  readonly revision: number
  /** The position of the first frame. */
  readonly size: number
}

export function encodeHeader(kind: FileKind, revision: number, format: number = storeFormat): Buffer {
  const header = Buffer.alloc(headerSize)
  header.write(`${magics[kind]}${String(format).padStart(2, '0')}\n`, 0, 'latin1')
  header.writeDoubleLE(revision, 8)
  header.writeUInt32LE(crc32(header.subarray(0, 16)), 16)
  return header
}

/** Decodes a header. Returns the format alone when it is newer than this version can read; undefined when the header is damaged. */
export function decodeHeader(file: Buffer, kind: FileKind): FileHeader | { readonly newer: number } | undefined {
  const magic = /^(KW[A-Z]{3})(\d\d)\n$/.exec(file.toString('latin1', 0, 8))
  if (magic?.[1] !== magics[kind] || file.length < 16) return undefined
  const format = Number(magic[2])
  const revision = file.readDoubleLE(8)
  if (!Number.isSafeInteger(revision) || revision < 1) return undefined
  if (format === 1) return { format, revision, size: 16 }
  // Every later format has the checksum here, so that a damaged magic is not mistaken for a newer format.
  if (format < 1 || file.length < headerSize || crc32(file.subarray(0, 16)) !== file.readUInt32LE(16)) return undefined
  return format > storeFormat ? { newer: format } : { format, revision, size: headerSize }
}

export function encodeFrame(records: readonly WalRecord[]): Buffer {
  let size = 0
  for (const { key, value } of records) size += recordHeader + key.length + value.length
  const frame = Buffer.allocUnsafe(frameHeader + size)
  let at = frameHeader
  for (const { type, key, value, revision, createRevision } of records) {
    at = frame.writeUInt8(typeCodes[type], at)
    at = frame.writeDoubleLE(revision, at)
    at = frame.writeDoubleLE(createRevision, at)
    at = frame.writeUInt16LE(key.length, at)
    at = frame.writeUInt32LE(value.length, at)
    at += frame.write(key, at, 'latin1')
    frame.set(value, at)
    at += value.length
  }
  frame.writeUInt32LE(size, 0)
  frame.writeUInt32LE(crc32(frame.subarray(frameHeader)), 4)
  frame.writeUInt32LE(crc32(frame.subarray(0, 8)), 8)
  return frame
}

/** A file that is read in pieces. */
export interface FrameSource {
  readonly size: number
  /** Resolves to exactly these bytes; rejects when the file has become shorter. */
  read(position: number, length: number): Promise<Buffer>
}

/** The result of reading the frames of a file. */
export type FrameEnd =
  | { readonly kind: 'complete'; readonly length: number }
  /** The last write is incomplete. Everything before `length` is complete; `dropped` bytes of the write follow. */
  | { readonly kind: 'torn'; readonly length: number; readonly dropped: number }
  | {
      readonly kind: 'corrupt'
      readonly offset: number
      readonly why: string
      /** Where the next frame starts, if the header of this one is intact. */
      readonly next: number | undefined
    }

/** How much is read at once. A larger frame is read as a whole. */
const windowBytes = 4 * 1024 * 1024

/**
 * Reads the frames from a position on, in order, and reports what follows the last complete one. `visit` gets the records of a frame
 * only when the whole frame is intact.
 */
export async function readFrames(source: FrameSource, start: number, visit: FrameVisitor): Promise<FrameEnd> {
  let at = start
  let wanted = windowBytes
  for (;;) {
    const window = await source.read(at, Math.min(source.size - at, wanted))
    const end = decodeFrames({ data: window, position: at, size: source.size }, visit)
    if (end.kind !== 'more') return end
    at = end.position
    wanted = Math.max(end.length, windowBytes)
  }
}

/** Gets the records of an intact frame, and its position in the file. */
export type FrameVisitor = (records: readonly WalRecord[], position: number) => void

/** A piece of a file. */
export interface FileWindow {
  readonly data: Buffer
  /** Where the piece starts in the file. */
  readonly position: number
  /** The size of the file. */
  readonly size: number
}

/** Decodes the frames of a piece, which starts with a frame. The result `more` has the piece to continue with. */
export function decodeFrames(
  { data, position, size }: FileWindow,
  visit: FrameVisitor,
): FrameEnd | { readonly kind: 'more'; readonly position: number; readonly length: number } {
  let at = position
  while (at < size) {
    const rest = data.subarray(at - position)
    const whole = { kind: 'more', position: at, length: size - at } as const
    if (size - at < frameHeader) {
      if (rest.length < size - at) return whole
      const dropped = writtenBytes(rest)
      return dropped === 0 ? { kind: 'complete', length: at } : { kind: 'torn', length: at, dropped }
    }
    if (rest.length < frameHeader) return { kind: 'more', position: at, length: frameHeader }
    // The header has a checksum of its own: with a damaged length, everything after it would look torn.
    if (crc32(rest.subarray(0, 8)) !== rest.readUInt32LE(8)) {
      if (rest.length < size - at) return whole
      const written = writtenBytes(rest)
      if (written === 0) return { kind: 'complete', length: at }
      // The next frame is written only after this one was acknowledged: with a frame behind it, this one is damaged, not torn.
      const next = frameAfter(rest)
      const isTorn = written < frameHeader || hasZeroSector(rest.subarray(0, written), at)
      if (next === undefined && isTorn) return { kind: 'torn', length: at, dropped: written }
      const why = 'the checksum of a frame header does not match'
      return { kind: 'corrupt', offset: at, why, next: next === undefined ? undefined : at + next }
    }
    const end = at + frameHeader + rest.readUInt32LE(0)
    if (end > size) return { kind: 'torn', length: at, dropped: size - at }
    if (end - at > rest.length) return { kind: 'more', position: at, length: end - at }
    const payload = rest.subarray(frameHeader, end - at)
    if (crc32(payload) !== rest.readUInt32LE(4)) {
      if (rest.length < size - at) return whole
      const written = writtenBytes(rest)
      const isCut = written <= end - at - cutBytes
      return written <= end - at && (isCut || hasZeroSector(rest.subarray(0, end - at), at))
        ? { kind: 'torn', length: at, dropped: written }
        : { kind: 'corrupt', offset: at, why: 'the checksum does not match', next: end }
    }
    const records = decodeRecords(payload)
    if (!records) return { kind: 'corrupt', offset: at, why: 'a record does not fit its frame', next: end }
    visit(records, at)
    at = end
  }
  return { kind: 'complete', length: at }
}

function decodeRecords(payload: Buffer): WalRecord[] | undefined {
  const records: WalRecord[] = []
  let at = 0
  while (at < payload.length) {
    if (payload.length - at < recordHeader) return undefined
    const type = typesByCode[payload.readUInt8(at)]
    const keyLength = payload.readUInt16LE(at + 17)
    const valueLength = payload.readUInt32LE(at + 19)
    const keyAt = at + recordHeader
    const valueAt = keyAt + keyLength
    if (valueAt + valueLength > payload.length || type === undefined) return undefined
    records.push({
      type,
      key: payload.toString('latin1', keyAt, valueAt),
      value: new Uint8Array(payload.buffer, payload.byteOffset + valueAt, valueLength),
      revision: payload.readDoubleLE(at + 1),
      createRevision: payload.readDoubleLE(at + 9),
    })
    at = valueAt + valueLength
  }
  return records
}

const sector = 512
/** A frame that ends in so many zeros was not written to its end. Values that end in as many are unlikely: JSON has none. */
const cutBytes = 8

/** Whether a sector of the data was never written. A crash during a write leaves such sectors; damage usually does not. */
function hasZeroSector(data: Buffer, position: number): boolean {
  for (let at = 0; at < data.length; ) {
    const end = at + sector - ((position + at) % sector)
    if (data.subarray(at, end).every((byte) => byte === 0)) return true
    at = end
  }
  return false
}

/** The number of bytes without the zeros at the end. */
function writtenBytes(data: Buffer): number {
  let length = data.length
  while (length > 0 && data[length - 1] === 0) length--
  return length
}

/** The position of the first complete frame behind the start of the data. */
function frameAfter(data: Buffer): number | undefined {
  for (let at = 1; at + frameHeader + recordHeader <= data.length; at++) {
    const size = data.readUInt32LE(at)
    // Most positions are ruled out by their size, without a checksum.
    if (size < recordHeader || at + frameHeader + size > data.length) continue
    if (crc32(data.subarray(at, at + 8)) !== data.readUInt32LE(at + 8)) continue
    if (crc32(data.subarray(at + frameHeader, at + frameHeader + size)) === data.readUInt32LE(at + 4)) return at
  }
  return undefined
}
