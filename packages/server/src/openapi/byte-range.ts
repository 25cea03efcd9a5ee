import { CaughtError } from '@kubewright/base'

/** A part of a document: the first byte and the number of bytes. */
export interface ByteRange {
  readonly start: number
  readonly length: number
}

/** A Range header selects nothing of the document. */
export class NoOverlap extends CaughtError {
  override readonly name = 'NoOverlap'

  constructor() {
    super('invalid range: failed to overlap')
  }
}

/**
 * Parses a Range header as kube-apiserver does for its OpenAPI documents. Undefined means the whole document, which is also the response
 * to several ranges. Throws an Error with the text of the response for a header that is malformed or that selects nothing.
 */
export function parseByteRange(header: string, size: number): ByteRange | undefined {
  if (header === '') return undefined
  if (!header.startsWith('bytes=')) throw new CaughtError('invalid range')
  const specs = header
    .slice('bytes='.length)
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '')
  const ranges = specs.map((spec) => parseSpec(spec, size))
  const found = ranges.filter((range) => range !== undefined)
  if (found.length === 0 && ranges.length > 0) throw new NoOverlap()
  return found.length === 1 ? found[0] : undefined
}

/** Undefined if the range begins behind the end. */
function parseSpec(spec: string, size: number): ByteRange | undefined {
  const match = /^(\d*)\s*-\s*(\d*)$/.exec(spec)
  const [, first = '', last = ''] = match ?? []
  if (!match || (first === '' && last === '')) throw new CaughtError('invalid range')
  if (first === '') {
    const length = Math.min(Number(last), size)
    return { start: size - length, length }
  }
  const start = Number(first)
  if (start >= size) return undefined
  if (last !== '' && Number(last) < start) throw new CaughtError('invalid range')
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return { start, length: end - start + 1 }
}
