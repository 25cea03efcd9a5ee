import { unreachable } from '@kubewright/base'
import { ProtobufError, ReverseWriter, type WireReader } from '@kubewright/base/protobuf'
import type { GoDeclarations, GoField } from '../go-declarations.ts'
import { numberedFields } from './field-table.ts'
import { checkTag, readTag, specialCodecs } from './special-codecs.ts'
import { messageCodec, scalarCodecs, type WireCodec } from './wire-codec.ts'

type JsonObject = Record<string, unknown>

/** A field of a message, bound to its JSON name. */
interface BoundField {
  readonly write: (writer: ReverseWriter, object: JsonObject) => void
  readonly read: (reader: WireReader, object: JsonObject, wire: number) => void
}

/** The protobuf codecs of the Go types of a release. */
export class WireCodecs {
  readonly #declarations: GoDeclarations
  readonly #codecs = new Map<string, WireCodec>()
  readonly #special = specialCodecs((type) => this.codec(type))

  constructor(declarations: GoDeclarations) {
    this.#declarations = declarations
  }

  /**
   * The codec of a Go type such as `core/v1.Pod`. Codecs are cached and resolve their fields on first use. Throws for unknown
   * messages.
   */
  codec(type: string): WireCodec {
    let codec = this.#codecs.get(type)
    if (!codec) this.#codecs.set(type, (codec = this.#make(type)))
    return codec
  }

  #make(type: string): WireCodec {
    const known = this.#special[type] ?? scalarCodecs[type]
    if (known) return known
    const declaration = this.#declarations.find(type)
    if (typeof declaration === 'string') {
      // A named Go slice type is encoded as a message if it has numbered fields.
      return numberedFields(type) ? wrappedList(type, this.codec(declaration.slice(2))) : this.codec(declaration)
    }
    if (declaration === undefined || !numberedFields(type))
      unreachable(`Unknown protobuf message ${type}: add it to protobuf-fields.ts`)
    return this.#struct(type, declaration)
  }

  /**
   * The codec of a struct. Fields are written by ascending number, also when they are empty, except for pointers, lists and maps, as
   * in Go.
   */
  #struct(type: string, declared: readonly GoField[]): WireCodec {
    const name = type.slice(type.lastIndexOf('.') + 1)
    let fields: readonly (BoundField | undefined)[] | undefined
    let empty: Uint8Array | undefined
    // Resolved on first use, because types may contain themselves.
    const bound = (): readonly (BoundField | undefined)[] => (fields ??= this.#bind(type, declared))
    const writeFields = (writer: ReverseWriter, object: JsonObject): void => {
      const all = bound()
      for (let i = all.length - 1; i > 0; i--) all[i]?.write(writer, object)
    }
    const zero = (): Uint8Array => {
      if (!empty) {
        const writer = new ReverseWriter()
        writeFields(writer, {})
        empty = writer.finish()
      }
      return empty
    }
    return messageCodec(
      (writer, value) => {
        if (value === undefined || value === null) writer.raw(zero())
        else writeFields(writer, value as JsonObject)
      },
      (reader, before) => {
        const object = (before ?? {}) as JsonObject
        const all = bound()
        while (reader.more) {
          const tag = reader.uint32()
          const field = all[tag >>> 3]
          if (field && (tag & 7) !== 4) field.read(reader, object, tag & 7)
          else {
            checkTag(tag, name)
            reader.skip(tag & 7)
          }
        }
        return object
      },
    )
  }

  /** Numbers of fields that another release has are left out. */
  #bind(type: string, declared: readonly GoField[]): readonly (BoundField | undefined)[] {
    const byName = new Map(declared.map((field) => [field.name, field.type]))
    const fields: (BoundField | undefined)[] = []
    for (const { number, name, embedded } of numberedFields(type)!) {
      const fieldType = byName.get(name)
      if (embedded)
        fields[number] = this.#embeddedField(number, `${type.slice(0, type.lastIndexOf('.'))}.${name}`, declared)
      else if (fieldType !== undefined) fields[number] = this.#field(number, name, fieldType)
    }
    return fields
  }

  /** The field of an embedded struct: a message whose fields are members of the surrounding JSON object. */
  #embeddedField(number: number, type: string, declared: readonly GoField[]): BoundField {
    const codec = this.#struct(type, declared)
    return {
      write: (writer, object) => tagged(writer, number, codec, object),
      read: (reader, object, wire) => {
        expectWire(wire, 2, type.slice(type.lastIndexOf('.') + 1))
        codec.read(reader, object)
      },
    }
  }

  #field(number: number, name: string, type: string): BoundField {
    const resolved = this.#resolve(type)
    if (resolved.startsWith('map[')) {
      return mapField(number, name, this.codec(resolved.slice(resolved.indexOf(']') + 1)))
    }
    if (resolved.startsWith('[]') && resolved !== '[]byte')
      return listField(number, name, this.codec(resolved.slice(2)))
    const pointer = resolved.startsWith('*')
    const codec = this.codec(pointer ? resolved.slice(1) : resolved)
    // Bytes and named lists can be nil without being pointers.
    const nilable = pointer || resolved === '[]byte' || typeof this.#declarations.find(resolved) === 'string'
    return {
      write: (writer, object) => {
        const value = object[name]
        if (!nilable || (value !== undefined && value !== null)) tagged(writer, number, codec, value)
      },
      read: (reader, object, wire) => {
        expectWire(wire, codec.wire, name)
        const value = codec.read(reader, object[name])
        if (pointer || !codec.isZero(value)) object[name] = value
        else delete object[name]
      },
    }
  }

  /** Resolves named types that are not messages, such as `core/v1.ResourceList`, to their underlying type. */
  #resolve(type: string): string {
    if (!type.includes('.') || type.startsWith('*') || type.startsWith('[]') || type.startsWith('map[')) return type
    if (this.#special[type] || numberedFields(type)) return type
    const declaration = this.#declarations.find(type)
    return typeof declaration === 'string' ? this.#resolve(declaration) : type
  }
}

function listField(number: number, name: string, codec: WireCodec): BoundField {
  return {
    write: (writer, object) => {
      const items = object[name] as readonly unknown[] | null | undefined
      if (!items) return
      for (let i = items.length - 1; i >= 0; i--) tagged(writer, number, codec, items[i])
    },
    read: (reader, object, wire) => {
      const items = (object[name] ??= []) as unknown[]
      if (wire === 2 && codec.wire !== 2) {
        // Numbers may be packed.
        reader.message((inner) => {
          while (inner.more) items.push(codec.read(inner, undefined))
        })
        return
      }
      expectWire(wire, codec.wire, name)
      items.push(codec.read(reader, undefined))
    },
  }
}

/** A map: one message per entry, sorted by key. */
function mapField(number: number, name: string, codec: WireCodec): BoundField {
  const valueTag = 0x10 | codec.wire
  return {
    write: (writer, object) => {
      const map = object[name] as JsonObject | null | undefined
      if (!map) return
      const keys = Object.keys(map)
      if (keys.length > 1) keys.sort()
      for (let i = keys.length - 1; i >= 0; i--) {
        const before = writer.length
        codec.write(writer, map[keys[i]!])
        writer.varint(valueTag)
        writer.string(keys[i]!)
        writer.varint(0x0a)
        writer.varint(writer.length - before)
        writer.varint(number * 8 + 2)
      }
    },
    read: (reader, object, wire) => {
      expectWire(wire, 2, name)
      const map = (object[name] ??= {}) as JsonObject
      readEntry(reader, map, codec)
    },
  }
}

function readEntry(reader: WireReader, map: JsonObject, codec: WireCodec): void {
  let key = ''
  let value: unknown
  reader.entry((number) => {
    if (number === 1) key = reader.string()
    else if (number === 2) value = codec.read(reader, undefined)
    else return false
    return true
  })
  // Null stands for the zero value of the type, which the decoder of the object fills in.
  const entry = value === undefined ? null : value
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value: entry, enumerable: true, configurable: true, writable: true })
  } else map[key] = entry
}

/** A named list of strings that is a message with the list as its only field. */
function wrappedList(type: string, item: WireCodec): WireCodec {
  const name = type.slice(type.lastIndexOf('.') + 1)
  const items = listField(1, 'items', item)
  return messageCodec(
    (writer, value) => items.write(writer, { items: value }),
    (reader, before) => {
      const object: JsonObject = { items: before ?? [] }
      while (reader.more) {
        const { number, wire } = readTag(reader, name)
        if (number === 1) items.read(reader, object, wire)
        else reader.skip(wire)
      }
      return object['items']
    },
  )
}

function tagged(writer: ReverseWriter, number: number, codec: WireCodec, value: unknown): void {
  codec.write(writer, value)
  writer.varint(number * 8 + codec.wire)
}

function expectWire(wire: number, expected: number, name: string): void {
  if (wire !== expected) throw new ProtobufError(`proto: wrong wireType = ${wire} for field ${goName(name)}`)
}

/** The Go name of a field, by the usual capitalization. */
function goName(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
