import { LineSplitter } from './line-splitter.ts'

/**
 * The lines of a UTF-8 stream, in batches as they arrive. A line ends with a newline; a non-empty remainder at the end is a
 * line, too. Lines are decoded as a whole, so a character that is split between two chunks is decoded correctly.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  const splitter = new LineSplitter()
  let lines: string[] = []
  const visit = (bytes: Buffer, start: number, end: number): void => {
    lines.push(bytes.toString('utf8', start, end))
  }
  for await (const chunk of chunks) {
    lines = []
    splitter.push(chunk, visit)
    if (lines.length > 0) yield lines
  }
  lines = []
  splitter.finish(visit)
  if (lines.length > 0) yield lines
}
