import { ReverseWriter } from './reverse-writer.ts'

const varintType = 0
const doubleType = 1
const bytesType = 2

type WriteField = (writer: ReverseWriter) => void

/**
 * Builds a message field by field, in the order of the calls. As in proto3, fields with a default value (zero, false, empty) are left
 * out, except where the method says otherwise. Byte arrays are copied by {@link encode}, not before.
 */
export class ProtoMessage {
  readonly #fields: WriteField[] = []

  /** Adds an integer of up to 64 bits or a boolean. */
  integer(field: number, value: number | bigint | boolean | undefined): this {
    const number = typeof value === 'boolean' ? Number(value) : (value ?? 0)
    return Number(number) === 0 ? this : this.present(field, number)
  }

  /** Adds an integer even if it is zero, as a member of a oneof requires. */
  present(field: number, value: number | bigint): this {
    return this.#add(field, varintType, (writer) => writer.varint(value))
  }

  double(field: number, value: number | undefined): this {
    return value === undefined || value === 0 ? this : this.#add(field, doubleType, (writer) => writer.double(value))
  }

  bytes(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.#add(field, bytesType, (writer) => writer.bytes(value))
  }

  text(field: number, value: string | undefined): this {
    return value === undefined || value === '' ? this : this.#text(field, value)
  }

  /** Adds a repeated field, including its empty texts. */
  texts(field: number, values: Iterable<string>): this {
    for (const value of values) this.#text(field, value)
    return this
  }

  /** Adds a nested message, even if it is empty. It may still grow until {@link encode}. */
  message(field: number, value: ProtoMessage): this {
    return this.#add(field, bytesType, (writer) => {
      const before = writer.length
      value.#write(writer)
      writer.varint(writer.length - before)
    })
  }

  /** Encodes the message behind `head` bytes that the caller fills in. */
  encode(head = 0): Buffer {
    const writer = new ReverseWriter()
    this.#write(writer)
    return writer.finish(head)
  }

  #text(field: number, value: string): this {
    return this.#add(field, bytesType, (writer) => writer.string(value))
  }

  #add(field: number, type: number, write: WriteField): this {
    this.#fields.push((writer) => {
      write(writer)
      writer.varint(field * 8 + type)
    })
    return this
  }

  #write(writer: ReverseWriter): void {
    for (let i = this.#fields.length - 1; i >= 0; i--) this.#fields[i]!(writer)
  }
}
