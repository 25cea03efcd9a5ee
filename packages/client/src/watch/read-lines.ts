const newline = 10

/**
 * The lines of a stream of UTF-8, batched as they arrive. A line ends with a newline; what follows the last one is a line too, unless
 * it is empty. Bytes are decoded once, per line, so that a character cut by a chunk's end stays whole.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, undefined> {
  // A line that spans many chunks is joined once, at its end: appending to it each time would be quadratic.
  let begun: Buffer[] = []
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let end = bytes.indexOf(newline)
    if (end < 0) {
      if (bytes.length > 0) begun.push(bytes)
      continue
    }
    const lines: string[] = []
    let start = 0
    if (begun.length > 0) {
      begun.push(bytes.subarray(0, end))
      lines.push(Buffer.concat(begun).toString())
      begun = []
      start = end + 1
      end = bytes.indexOf(newline, start)
    }
    while (end >= 0) {
      lines.push(bytes.toString('utf8', start, end))
      start = end + 1
      end = bytes.indexOf(newline, start)
    }
    if (start < bytes.length) begun.push(bytes.subarray(start))
    yield lines
  }
  if (begun.length > 0) yield [Buffer.concat(begun).toString()]
}
