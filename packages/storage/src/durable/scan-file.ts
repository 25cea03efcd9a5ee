import type { FileReader } from './disk.ts'
import { readHeader } from './state-file.ts'
import { type FileHeader, type FileKind, type FrameVisitor, readFrames } from './wal-format.ts'

/** A part of a file that cannot be read. */
export interface Damage {
  readonly offset: number
  /** Where the next intact frame starts; undefined when there is none. */
  readonly end: number | undefined
  readonly why: string
}

/** The result of reading a file as far as possible. */
export interface ScannedFile {
  /** Undefined when it is damaged. */
  readonly header: FileHeader | undefined
  /** The format, when it is too new to be read. */
  readonly newer?: number | undefined
  readonly damages: readonly Damage[]
  /** Where an incomplete last frame starts. */
  readonly torn: number | undefined
}

/** Reads all intact frames of a file, also those behind damaged ones. */
export async function scanFile(source: FileReader, kind: FileKind, visit: FrameVisitor): Promise<ScannedFile> {
  const header = await readHeader(source, kind)
  if (header && 'newer' in header) return { header: undefined, newer: header.newer, damages: [], torn: undefined }
  const damages: Damage[] = []
  // Without a header, the search for the first frame starts at the beginning.
  let at = header?.size ?? 0
  for (;;) {
    const end = await readFrames(source, at, visit)
    if (end.kind === 'complete') break
    if (end.kind === 'torn') {
      if (header) return { header, damages, torn: end.length }
      damages.push({ offset: 0, end: undefined, why: `it has no valid header of a ${kind}` })
      break
    }
    const isHeader = header === undefined && damages.length === 0
    damages.push({ offset: end.offset, end: end.next, why: isHeader ? `it has no valid header of a ${kind}` : end.why })
    if (end.next === undefined) break
    at = end.next
  }
  if (!header && damages.length === 0) damages.push({ offset: 0, end: undefined, why: 'the file is empty' })
  return { header, damages, torn: undefined }
}
