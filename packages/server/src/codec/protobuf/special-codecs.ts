import { encodeJson, parseJson } from '@kubewright/api'
import {
  formatDuration,
  formatMicroTime,
  formatRFC3339,
  type Instant,
  parseDuration,
  parseMicroTime,
  parseRFC3339,
} from '@kubewright/base'
import { ProtobufError, type ReverseWriter, type WireReader } from '@kubewright/base/protobuf'
import { messageCodec, type WireCodec } from './wire-codec.ts'

/** Reads the fields of a small message. `read` receives the number of each field and returns whether it has consumed the value. */
export function readFields(reader: WireReader, name: string, read: (number: number, wire: number) => boolean): void {
  while (reader.more) {
    const { number, wire } = readTag(reader, name)
    if (!read(number, wire)) reader.skip(wire)
  }
}

/** Reads the tag of a field. */
export function readTag(reader: WireReader, name: string): { readonly number: number; readonly wire: number } {
  const tag = reader.uint32()
  checkTag(tag, name)
  return { number: tag >>> 3, wire: tag & 7 }
}

/** Rejects tags that are invalid in any message. */
export function checkTag(tag: number, name: string): void {
  const wire = tag & 7
  if (wire === 4) throw new ProtobufError(`proto: ${name}: wiretype end group for non-group`)
  if (tag >>> 3 === 0) throw new ProtobufError(`proto: ${name}: illegal tag 0 (wire type ${wire})`)
}

/**
 * The codecs of types whose JSON form differs from their fields. Codecs of schemas are resolved on use, because schemas contain
 * each other.
 */
export function specialCodecs(codecOf: (type: string) => WireCodec): Readonly<Record<string, WireCodec>> {
  const schema = (): WireCodec => codecOf('apiextensions/v1.JSONSchemaProps')
  return {
    'meta/v1.Time': timeCodec((text) => ({ seconds: parseRFC3339(text).seconds, nanos: 0 }), formatRFC3339),
    'meta/v1.MicroTime': timeCodec((text) => {
      const { seconds, nanos } = parseMicroTime(text)
      return { seconds, nanos: nanos - (nanos % 1000) }
    }, formatMicroTime),
    'meta/v1.Duration': duration,
    'resource.Quantity': quantity,
    'intstr.IntOrString': intOrString,
    'meta/v1.FieldsV1': raw,
    'runtime.RawExtension': raw,
    'runtime.Object': raw,
    'apiextensions/v1.JSON': raw,
    'apiextensions/v1.JSONSchemaPropsOrBool': schemaOrBool(schema),
    'apiextensions/v1.JSONSchemaPropsOrArray': schemaOrList('JSONSchemaPropsOrArray', schema, schema),
    'apiextensions/v1.JSONSchemaPropsOrStringArray': schemaOrList('JSONSchemaPropsOrStringArray', schema, () =>
      codecOf('string'),
    ),
  }
}

/** A time is seconds and nanoseconds. The zero time, which is null in JSON, is an empty message. */
function timeCodec(parse: (text: string) => Instant, format: (time: Instant) => string): WireCodec {
  return messageCodec(
    (writer, value) => {
      if (typeof value !== 'string') return
      const { seconds, nanos } = parse(value)
      writer.varint(nanos)
      writer.varint(0x10)
      writer.varint(seconds)
      writer.varint(0x08)
    },
    (reader) => {
      if (!reader.more) return null
      let seconds = 0
      let nanos = 0
      readFields(reader, 'Timestamp', (number, wire) => {
        if (wire !== 0 || number > 2) return false
        if (number === 1) seconds = Number(reader.int64())
        else nanos = reader.int32()
        return true
      })
      return format({ seconds, nanos })
    },
    (value) => value === null,
  )
}

const duration: WireCodec = messageCodec(
  (writer, value) => {
    writer.varint(parseDuration((value ?? '0') as string))
    writer.varint(0x08)
  },
  (reader) => {
    let nanoseconds: number | bigint = 0
    readFields(reader, 'Duration', (number, wire) => {
      if (number !== 1 || wire !== 0) return false
      nanoseconds = reader.int64()
      return true
    })
    return formatDuration(BigInt(nanoseconds))
  },
)

const quantity: WireCodec = messageCodec(
  (writer, value) => {
    writer.string(String(value ?? '0'))
    writer.varint(0x0a)
  },
  (reader) => {
    let text = ''
    readFields(reader, 'Quantity', (number, wire) => {
      if (number !== 1 || wire !== 2) return false
      text = reader.string()
      return true
    })
    return text === '' ? '0' : text
  },
)

const intOrString: WireCodec = messageCodec(
  (writer, value) => {
    const isText = typeof value === 'string'
    writer.string(isText ? value : '')
    writer.varint(0x1a)
    writer.varint(isText ? 0 : Number(value ?? 0))
    writer.varint(0x10)
    writer.varint(isText ? 1 : 0)
    writer.varint(0x08)
  },
  (reader) => {
    let isText = false
    let integer = 0
    let text = ''
    readFields(reader, 'IntOrString', (number, wire) => {
      if (number === 1 && wire === 0) isText = Number(reader.int64()) === 1
      else if (number === 2 && wire === 0) integer = reader.int32()
      else if (number === 3 && wire === 2) text = reader.string()
      else return false
      return true
    })
    return isText ? text : integer
  },
)

/** Any JSON, as text. Absent values and null are an empty message. */
const raw: WireCodec = messageCodec(
  (writer, value) => {
    if (value === undefined || value === null) return
    writer.string(encodeJson(value))
    writer.varint(0x0a)
  },
  (reader) => {
    let bytes: Buffer | undefined
    readFields(reader, 'RawExtension', (number, wire) => {
      if (number !== 1 || wire !== 2) return false
      bytes = reader.bytes()
      return true
    })
    if (bytes === undefined || (bytes as Buffer).length === 0) return null
    try {
      return parseJson(bytes)
    } catch (error) {
      throw new ProtobufError((error as Error).message)
    }
  },
  (value) => value === null,
)

function schemaOrBool(schema: () => WireCodec): WireCodec {
  return messageCodec(
    (writer, value) => {
      if (typeof value === 'object' && value !== null) {
        schema().write(writer, value)
        writer.varint(0x12)
      }
      writer.varint(value ? 1 : 0)
      writer.varint(0x08)
    },
    (reader) => {
      let allows = false
      let found: unknown
      readFields(reader, 'JSONSchemaPropsOrBool', (number, wire) => {
        if (number === 1 && wire === 0) allows = reader.bool()
        else if (number === 2 && wire === 2) found = schema().read(reader, found)
        else return false
        return true
      })
      return found ?? allows
    },
  )
}

function schemaOrList(name: string, schema: () => WireCodec, item: () => WireCodec): WireCodec {
  const writeItems = (writer: ReverseWriter, items: readonly unknown[]): void => {
    for (let i = items.length - 1; i >= 0; i--) {
      item().write(writer, items[i])
      writer.varint(0x12)
    }
  }
  return messageCodec(
    (writer, value) => {
      if (Array.isArray(value)) writeItems(writer, value)
      else if (typeof value === 'object' && value !== null) {
        schema().write(writer, value)
        writer.varint(0x0a)
      }
    },
    (reader) => {
      let found: unknown = null
      const items: unknown[] = []
      readFields(reader, name, (number, wire) => {
        if (wire !== 2 || number > 2) return false
        if (number === 1) found = schema().read(reader, found)
        else items.push(item().read(reader, undefined))
        return true
      })
      return items.length > 0 ? items : found
    },
  )
}
