import type { Disk, DurableFile } from './disk.ts'
import { readHeader } from './state-file.ts'
import { encodeHeader } from './wal-format.ts'

/** The file that states a revision which the store has had. A log that was cut between two writes looks complete without it. */
export const markerName = 'newest'
const draft = `${markerName}.tmp`

/** The newest revision that the store is known to have had; 0 without a marker, undefined when the marker is damaged. */
export async function readMarker(disk: Disk): Promise<number | { readonly newer: number } | undefined> {
  if (!(await disk.list()).includes(markerName)) return 0
  const file = await disk.openReader(markerName)
  const header = await readHeader(file, 'marker').finally(() => file[Symbol.asyncDispose]())
  return header && ('newer' in header ? header : header.revision)
}

/** Writes the marker. It is smaller than a sector, so a crash leaves the old one or the new one. */
export class Marker {
  readonly #file: DurableFile
  #revision: number

  private constructor(file: DurableFile, revision: number) {
    this.#file = file
    this.#revision = revision
  }

  /** Opens the marker, or creates it, with a revision that is on the medium. */
  static async open(disk: Disk, revision: number): Promise<Marker> {
    const isNew = !(await disk.list()).includes(markerName)
    const file = await disk.open(isNew ? draft : markerName)
    try {
      await file.write(encodeHeader('marker', revision), 0)
      if (isNew) await disk.rename(draft, markerName)
      return new Marker(file, revision)
    } catch (error) {
      await file.close().catch(() => undefined)
      throw error
    }
  }

  /** States a later revision, which is on the medium. Not to be called again before it has ended. */
  async write(revision: number): Promise<void> {
    if (revision <= this.#revision) return
    await this.#file.write(encodeHeader('marker', revision), 0)
    this.#revision = revision
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
