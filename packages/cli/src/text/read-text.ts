import { readFileSync } from 'node:fs'
import { withUnixEnds } from './line-ends.ts'

/** The text of a file with Unix line ends, as all files of the scaffold have; undefined if the file does not exist. */
export function readText(file: string): string | undefined {
  const text = readRawText(file)
  return text === undefined ? undefined : withUnixEnds(text)
}

/** The text of a file; undefined if the file does not exist. */
export function readRawText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
