import { ApiError } from '@kubewright/api'
import { ProtobufError, ReverseWriter, WireReader } from '@kubewright/base/protobuf'
import type { ProtobufTypes } from './protobuf-types.ts'
import { readFields } from './special-codecs.ts'
import type { WireCodec } from './wire-codec.ts'

/** The prefix of every protobuf body: `k8s` and the number of the encoding. */
const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00])

interface TypedObject {
  readonly apiVersion?: string | undefined
  readonly kind?: string | undefined
}

/** A protobuf body whose object is not decoded yet. */
export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  /** The message of the object with its length prefix, for {@link decodeMessage}. */
  readonly message: Uint8Array
}

/** Encodes an object or list with its apiVersion and kind. Throws ApiError NotAcceptable when the kind has no protobuf form. */
export function encodeProtobuf(types: ProtobufTypes, object: unknown): Buffer {
  const writer = new ReverseWriter()
  writeEnvelope(types, writer, object as TypedObject)
  return writer.finish()
}

/** Encodes a list item by item, so that other work can be done between them. Throws as {@link encodeProtobuf}. */
export class ProtobufListEncoder {
  readonly #types: ProtobufTypes
  readonly #list: TypedObject
  readonly #codec: WireCodec
  readonly #field: number
  readonly #items: Buffer[] = []

  /** `list` is the list without its items. */
  constructor(types: ProtobufTypes, list: TypedObject) {
    const found = types.messages.find(list.apiVersion ?? '', list.kind ?? '')
    if (!found?.list) throw notMarshalable(list.kind ?? '')
    this.#types = types
    this.#list = list
    this.#codec = types.wire.codec(found.type)
    this.#field = found.list.items
  }

  add(item: unknown): void {
    const writer = new ReverseWriter()
    this.#codec.write(writer, item)
    writer.varint(this.#field * 8 + 2)
    this.#items.push(writer.finish())
  }

  finish(): Buffer {
    const writer = new ReverseWriter()
    writeEnvelope(this.#types, writer, this.#list, () => {
      for (let i = this.#items.length - 1; i >= 0; i--) writer.raw(this.#items[i]!)
    })
    return writer.finish()
  }
}

/** Encodes a watch event as a frame: four bytes of length and the event. The event has no envelope, but its object has one. */
export function encodeWatchFrame(types: ProtobufTypes, type: string, object: unknown): Buffer {
  const writer = new ReverseWriter()
  writeEnvelope(types, writer, object as TypedObject)
  writer.varint(writer.length)
  writer.varint(0x0a)
  writer.varint(writer.length)
  writer.varint(0x12)
  writer.string(type)
  writer.varint(0x0a)
  const length = Buffer.allocUnsafe(4)
  length.writeUInt32BE(writer.length)
  writer.raw(length)
  return writer.finish()
}

/** Parses the envelope of a body. Throws {@link ProtobufError} with the text of kube-apiserver when it is invalid. */
export function openEnvelope(body: Uint8Array): Envelope {
  if (body.length === 0) throw new ProtobufError('empty data')
  if (magic.compare(body.subarray(0, magic.length)) !== 0) {
    const expected = `[${magic.join(' ')}]`
    throw new ProtobufError(`provided data does not appear to be a protobuf message, expected prefix ${expected}`)
  }
  if (body.length === magic.length) throw new ProtobufError('empty body')
  const reader = new WireReader(body.subarray(magic.length))
  const envelope = { apiVersion: '', kind: '', message: Uint8Array.of(0) as Uint8Array }
  readFields(reader, 'Unknown', (number, wire) => {
    checkWire(envelopeFields[number - 1], wire)
    if (number === 1) reader.message((inner) => readTypeMeta(inner, envelope))
    else if (number === 2) envelope.message = reader.framed()
    else return false
    return true
  })
  return envelope
}

/** Decodes the message of a Go type such as `core/v1.Pod` to JSON. Absent and empty fields are omitted. */
export function decodeMessage(types: ProtobufTypes, type: string, message: Uint8Array): Record<string, unknown> {
  return types.wire.codec(type).read(new WireReader(message), undefined) as Record<string, unknown>
}

function readTypeMeta(reader: WireReader, into: { apiVersion: string; kind: string }): void {
  readFields(reader, 'TypeMeta', (number, wire) => {
    checkWire(typeFields[number - 1], wire)
    if (number === 1) into.apiVersion = reader.string()
    else if (number === 2) into.kind = reader.string()
    else return false
    return true
  })
}

const envelopeFields = ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType'] as const
const typeFields = ['APIVersion', 'Kind'] as const

/** Rejects a known field that is not a message or a text, as the generated code of Kubernetes does. */
function checkWire(field: string | undefined, wire: number): void {
  if (field !== undefined && wire !== 2) throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${field}`)
}

/** Writes the envelope: type, object, and two encoding fields that are always empty. */
function writeEnvelope(
  types: ProtobufTypes,
  writer: ReverseWriter,
  object: TypedObject,
  writeItems?: () => void,
): void {
  const { apiVersion = '', kind = '' } = object
  writer.raw(emptyTexts)
  writeObject(types, writer, apiVersion, kind, object, writeItems)
  writer.varint(0x12)
  const before = writer.length
  writer.string(kind)
  writer.varint(0x12)
  writer.string(apiVersion)
  writer.varint(0x0a)
  writer.varint(writer.length - before)
  writer.varint(0x0a)
  writer.raw(magic)
}

const emptyTexts = Uint8Array.of(0x1a, 0, 0x22, 0)

/** `writeItems` writes the items of a list, if they are not those of the object. */
function writeObject(
  types: ProtobufTypes,
  writer: ReverseWriter,
  apiVersion: string,
  kind: string,
  object: TypedObject,
  writeItems?: () => void,
): void {
  const found = types.messages.find(apiVersion, kind)
  if (!found) throw notMarshalable(kind)
  const codec = types.wire.codec(found.type)
  if (!found.list) {
    codec.write(writer, object)
    return
  }
  const { metadata, items } = object as { metadata?: unknown; items?: readonly unknown[] | undefined }
  const before = writer.length
  const writeOwnItems = (): void => {
    for (let i = (items?.length ?? 0) - 1; i >= 0; i--) {
      codec.write(writer, items![i])
      writer.varint(found.list!.items * 8 + 2)
    }
  }
  const write = writeItems ?? writeOwnItems
  if (found.list.items > found.list.metadata) write()
  types.wire.codec('meta/v1.ListMeta').write(writer, metadata)
  writer.varint(found.list.metadata * 8 + 2)
  if (found.list.items < found.list.metadata) write()
  writer.varint(writer.length - before)
}

function notMarshalable(kind: string): ApiError {
  const message = `object *v1.${kind} does not implement the protobuf marshalling interface and cannot be encoded to a protobuf message`
  const status = { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', message } as const
  return new ApiError({ ...status, reason: 'NotAcceptable', code: 406 })
}
