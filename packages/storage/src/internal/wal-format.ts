// The file format of a durable store. A log and a snapshot have the same structure: a header, then frames.
//
//   header  8 bytes magic, 8 bytes revision (float64): a log has the changes after it, a snapshot the state at it
//   frame   4 bytes length of the payload, 4 bytes CRC-32 of the payload, 4 bytes CRC-32 of these eight, payload
//   payload records, one after the other
//   record  1 byte type, 8 bytes revision, 8 bytes create revision, 2 bytes key length, 4 bytes value length, key, value
//
// A log frame is one group commit. Each frame is one write, and the next write waits for it, so only the last frame can
// be incomplete.
import { crc32 } from 'node:zlib'

export const logMagic = 'KWLOG01\n'
export const snapshotMagic = 'KWSNP01\n'
export const headerSize = 16
const frameHeader = 12
const recordHeader = 23
const putType = 1
const deleteType = 2

/** One write as stored in the files. */
export interface WalRecord {
  readonly key: string
  /** Undefined for a delete. */
  readonly value: Uint8Array | undefined
  readonly revision: number
  readonly createRevision: number
}

export function encodeHeader(magic: string, revision: number): Buffer {
  const header = Buffer.alloc(headerSize)
  header.write(magic, 0, 'latin1')
  header.writeDoubleLE(revision, 8)
  return header
}

/** The revision in the header of a file, or undefined when the file has no valid header. */
export function decodeHeader(file: Buffer, magic: string): number | undefined {
  if (file.length < headerSize || file.toString('latin1', 0, 8) !== magic) return undefined
  return file.readDoubleLE(8)
}

export function encodeFrame(records: readonly WalRecord[]): Buffer {
  let size = 0
  for (const { key, value } of records) size += recordHeader + key.length + (value?.length ?? 0)
  const frame = Buffer.allocUnsafe(frameHeader + size)
  let at = frameHeader
  for (const { key, value, revision, createRevision } of records) {
    at = frame.writeUInt8(value === undefined ? deleteType : putType, at)
    at = frame.writeDoubleLE(revision, at)
    at = frame.writeDoubleLE(createRevision, at)
    at = frame.writeUInt16LE(key.length, at)
    at = frame.writeUInt32LE(value?.length ?? 0, at)
    at += frame.write(key, at, 'latin1')
    if (value) {
      frame.set(value, at)
      at += value.length
    }
  }
  frame.writeUInt32LE(size, 0)
  frame.writeUInt32LE(crc32(frame.subarray(frameHeader)), 4)
  frame.writeUInt32LE(crc32(frame.subarray(0, 8)), 8)
  return frame
}

/** The result of reading the frames of a file. */
export type FrameEnd =
  | { readonly kind: 'complete'; readonly length: number }
  /** The last write is incomplete. Everything before `length` is complete. */
  | { readonly kind: 'torn'; readonly length: number }
  | { readonly kind: 'corrupt'; readonly offset: number; readonly why: string }

/** Reads all complete frames in order and reports what follows the last one. */
export function decodeFrames(file: Buffer, visit: (record: WalRecord) => void): FrameEnd {
  let at = headerSize
  while (at < file.length) {
    if (file.length - at < frameHeader) return { kind: 'torn', length: at }
    // The header has a checksum of its own: with a damaged length, everything after it would look torn.
    if (crc32(file.subarray(at, at + 8)) !== file.readUInt32LE(at + 8)) {
      // The next frame is written only after this one was acknowledged: with a frame behind it, this one is damaged, not torn.
      return hasZeroSector(file, at, file.length) && !hasFrameAfter(file, at)
        ? { kind: 'torn', length: at }
        : { kind: 'corrupt', offset: at, why: 'the checksum of a frame header does not match' }
    }
    const end = at + frameHeader + file.readUInt32LE(at)
    if (end > file.length) return { kind: 'torn', length: at }
    const payload = file.subarray(at + frameHeader, end)
    if (crc32(payload) !== file.readUInt32LE(at + 4)) {
      return end === file.length && hasZeroSector(file, at, end)
        ? { kind: 'torn', length: at }
        : { kind: 'corrupt', offset: at, why: 'the checksum does not match' }
    }
    if (!decodeRecords(payload, visit)) return { kind: 'corrupt', offset: at, why: 'a record does not fit its frame' }
    at = end
  }
  return { kind: 'complete', length: at }
}

function decodeRecords(payload: Buffer, visit: (record: WalRecord) => void): boolean {
  let at = 0
  while (at < payload.length) {
    if (payload.length - at < recordHeader) return false
    const type = payload.readUInt8(at)
    const keyLength = payload.readUInt16LE(at + 17)
    const valueLength = payload.readUInt32LE(at + 19)
    const keyAt = at + recordHeader
    const valueAt = keyAt + keyLength
    if (valueAt + valueLength > payload.length || (type !== putType && type !== deleteType)) return false
    visit({
      key: payload.toString('latin1', keyAt, valueAt),
      // A copy, so that a small value does not keep the whole file in memory.
      value: type === putType ? Uint8Array.prototype.slice.call(payload, valueAt, valueAt + valueLength) : undefined,
      revision: payload.readDoubleLE(at + 1),
      createRevision: payload.readDoubleLE(at + 9),
    })
    at = valueAt + valueLength
  }
  return true
}

/** Whether a sector of the range was never written. A crash during a write leaves such sectors; damage usually does not. */
function hasZeroSector(file: Buffer, start: number, end: number): boolean {
  const sector = 512
  for (let at = start; at < end; at = (Math.floor(at / sector) + 1) * sector) {
    const chunk = file.subarray(at, Math.min(end, (Math.floor(at / sector) + 1) * sector))
    if (chunk.length > 0 && chunk.every((byte) => byte === 0)) return true
  }
  return false
}

/** Whether a complete frame starts anywhere behind a position. */
function hasFrameAfter(file: Buffer, position: number): boolean {
  for (let at = position + 1; at + frameHeader + recordHeader <= file.length; at++) {
    const size = file.readUInt32LE(at)
    // Most positions are ruled out by their size, without a checksum.
    if (size < recordHeader || at + frameHeader + size > file.length) continue
    if (crc32(file.subarray(at, at + 8)) !== file.readUInt32LE(at + 8)) continue
    if (crc32(file.subarray(at + frameHeader, at + frameHeader + size)) === file.readUInt32LE(at + 4)) return true
  }
  return false
}
