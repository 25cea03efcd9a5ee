import type { ReverseWriter, WireReader } from '@kubewright/base/protobuf'

/** Converts values of one type between JSON and the protobuf wire format. */
export interface WireCodec {
  /** The wire type: 0 varint, 1 eight bytes, 2 bytes with a length. */
  readonly wire: 0 | 1 | 2
  /** Writes a value, with its length for wire type 2. Null and undefined stand for Go's zero value. */
  write(writer: ReverseWriter, value: unknown): void
  /** Reads a value. `before` is the previous value of the field, which messages are merged into. */
  read(reader: WireReader, before: unknown): unknown
  /** Whether the value is Go's zero value, which JSON may omit unless the field is a pointer. */
  isZero(value: unknown): boolean
}

const never = (): boolean => false

/** Creates the codec of a message from functions that write and read its content. */
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

/** The codecs of Go's basic types. */
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
