import { type ApiRequest, type ApiResponse, encodeJson } from '@kubewright/api'
import { Stretch } from '@kubewright/base'
import type { StoredObject } from '../../resource/stored-object.ts'
import type { Envelope, ListFormat } from './list-format.ts'

/** Lists of more stored bytes than this are streamed. */
const streamedBytes = 1024 * 1024
/** Pieces of a streamed list are about this large; one with a large object is larger. */
const pieceBytes = 1024 * 1024

/** Whether a list is so large that it is encoded piece by piece, while the client reads it. */
export function isStreamed(objects: readonly StoredObject[]): boolean {
  let size = 0
  for (const object of objects) {
    size += object.itemSize
    if (size > streamedBytes) return true
  }
  return false
}

/**
 * Responds with a JSON list that is never in memory as a whole: pieces are encoded when the client has taken the ones before. `envelope` is
 * the list without items; its last field is the empty list of items. The response has no length, and the stream fails when an item cannot
 * be encoded.
 */
export function streamList(request: ApiRequest, envelope: object, pieces: Iterable<Buffer>): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    body: async (sink) => {
      sink.write(Buffer.from(encodeJson(envelope).slice(0, -']}'.length)))
      for (const piece of pieces) {
        if (!sink.write(piece)) await sink.drained()
        if (request.signal.aborted) return
      }
      sink.write(Buffer.from(']}\n'))
    },
  }
}

/** Other requests run after the encoding of so many stored bytes. A larger object is encoded as a whole. */
export const stretchBytes: number = 256 * 1024

/** As {@link streamList}, for items that are encoded from what `item` makes of the objects. Parsed objects are not kept. */
export function streamItems(
  request: ApiRequest,
  format: ListFormat,
  envelope: Envelope,
  objects: readonly StoredObject[],
  item: (object: ReturnType<StoredObject['read']>) => unknown,
): ApiResponse {
  return {
    status: 200,
    headers: { 'content-type': format.contentType, 'cache-control': 'no-cache, private' },
    body: async (sink) => {
      const [head, tail] = format.frame(envelope)
      sink.write(Buffer.from(head))
      const stretch = new Stretch(stretchBytes)
      let text = ''
      for (const [i, object] of objects.entries()) {
        const turn = stretch.before(object.itemSize)
        if (turn) {
          if (!sink.write(Buffer.from(text))) await sink.drained()
          text = ''
          await turn
          if (request.signal.aborted) return
        }
        text += `${i > 0 ? format.separator : ''}${format.item(item(object.read()))}`
      }
      sink.write(Buffer.from(text + tail))
    },
  }
}

const comma = 0x2c

/** Encoded lists of more bytes than this are not kept. */
const keptBytes = 32 * 1024 * 1024

/** The pieces of lists that were encoded before, by the objects in them. Garbage collection removes those that no response uses. */
const encoded = new WeakMap<readonly StoredObject[], { withTypeMeta: boolean; pieces: WeakRef<readonly Buffer[]> }>()

/**
 * The stored bytes of objects as items of a list, separated by commas. The pieces of a snapshot are kept for the next list of the same
 * objects, such as those of many clients that start at the same time.
 */
export function* storedPieces(
  objects: readonly StoredObject[],
  withTypeMeta: boolean,
  isSnapshot: boolean,
): Iterable<Buffer> {
  const known = isSnapshot ? encoded.get(objects) : undefined
  const before = known?.withTypeMeta === withTypeMeta ? known.pieces.deref() : undefined
  if (before) {
    yield* before
    return
  }
  let kept: Buffer[] | undefined = isSnapshot ? [] : undefined
  let bytes = 0
  for (const piece of newPieces(objects, withTypeMeta)) {
    bytes += piece.length
    if (bytes <= keptBytes) kept?.push(piece)
    else kept = undefined
    yield piece
  }
  if (kept) encoded.set(objects, { withTypeMeta, pieces: new WeakRef(kept) })
}

function* newPieces(objects: readonly StoredObject[], withTypeMeta: boolean): Iterable<Buffer> {
  let piece = Buffer.allocUnsafe(pieceBytes)
  let at = 0
  let separator = false
  for (const object of objects) {
    const size = object.itemSize + 1
    if (at + size > piece.length) {
      yield piece.subarray(0, at)
      // The receiver may still hold the previous piece.
      piece = Buffer.allocUnsafe(Math.max(pieceBytes, size))
      at = 0
    }
    if (separator) piece[at++] = comma
    separator = true
    at = object.writeItem(piece, at, withTypeMeta)
  }
  yield piece.subarray(0, at)
}

/** The metadata of objects as PartialObjectMetadata, cut out of their stored bytes. */
export function* metadataPieces(objects: readonly StoredObject[], apiVersion: string): Iterable<Buffer> {
  let items: Buffer[] = []
  let size = 0
  for (const [i, object] of objects.entries()) {
    if (i > 0) items.push(separator)
    const bytes = object.metadataBytes(apiVersion)
    items.push(bytes)
    size += bytes.length
    if (size < pieceBytes) continue
    yield Buffer.concat(items)
    items = []
    size = 0
  }
  yield Buffer.concat(items)
}

const separator = Buffer.from(',')
