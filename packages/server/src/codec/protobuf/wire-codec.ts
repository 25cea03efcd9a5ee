import type { ReverseWriter, WireReader } from '@kubewright/base/protobuf'

/** How values of one type are written and read, between their JSON form and the wire. */
export interface WireCodec {
  /** 0 varint, 1 eight bytes, 2 bytes with a length. */
  readonly wire: 0 | 1 | 2
  /** Writes a value, with its length where it has one; null and undefined stand for Go's zero value. */
  write(writer: ReverseWriter, value: unknown): void
  /** Reads a value; `before` is what the field has already, which messages add to. */
  read(reader: WireReader, before: unknown): unknown
  /** Whether the value is Go's zero, which JSON may leave out where there is no pointer to it. */
  isZero(value: unknown): boolean
}

const never = (): boolean => false

/** Makes the codec of a message from how its content is written and read. */
export function messageCodec(
  write: (writer: ReverseWriter, value: unknown) => void,
  read: (reader: WireReader, before: unknown) => unknown,
  isZero: (value: unknown) => boolean = never,
): WireCodec {
  return {
    wire: 2,
    isZero,
    write: (writer, value) => {
      const before = writer.length
      write(writer, value)
      writer.varint(writer.length - before)
    },
    read: (reader, before) => reader.message((inner) => read(inner, before)),
  }
}

const integer = (read: (reader: WireReader) => unknown): WireCodec => ({
  wire: 0,
  write: (writer, value) => writer.varint((value ?? 0) as number | bigint),
  read,
  isZero: (value) => value === 0,
})

/** The codecs of Go's own types. */
export const scalarCodecs: Readonly<Record<string, WireCodec>> = {
  string: {
    wire: 2,
    write: (writer, value) => writer.string((value ?? '') as string),
    read: (reader) => reader.string(),
    isZero: (value) => value === '',
  },
  bool: {
    wire: 0,
    write: (writer, value) => writer.varint(value === true ? 1 : 0),
    read: (reader) => reader.bool(),
    isZero: (value) => value === false,
  },
  int32: integer((reader) => reader.int32()),
  int64: integer((reader) => reader.int64()),
  int: integer((reader) => reader.int64()),
  float64: {
    wire: 1,
    write: (writer, value) => writer.double(Number(value ?? 0)),
    read: (reader) => reader.double(),
    isZero: (value) => value === 0,
  },
  '[]byte': {
    wire: 2,
    write: (writer, value) => writer.bytes(Buffer.from((value ?? '') as string, 'base64')),
    read: (reader) => reader.bytes().toString('base64'),
    isZero: never,
  },
}
