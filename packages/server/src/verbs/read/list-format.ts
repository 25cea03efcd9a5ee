import { encodeJson, encodeYaml } from '@kubewright/api'
import type { Representation } from '../../request/negotiate.ts'

/** How a list is written piece by piece in a text format. */
export interface ListFormat {
  readonly contentType: string
  /** The text around the items. */
  readonly frame: (envelope: Envelope) => readonly [head: string, tail: string]
  readonly item: (value: unknown) => string
  readonly separator: string
}

/** A list, or a table, without its items, and the name of their field. */
export interface Envelope {
  readonly list: Readonly<Record<string, unknown>>
  readonly items: string
}

/** Stands for the items in an encoded envelope. */
const place = 'kubewright-items'

/** Encodes the envelope with one item, and returns what is around the text of that item. */
function around(
  { list, items }: Envelope,
  encode: (value: unknown) => string,
  text: string,
): readonly [string, string] {
  const encoded = encode({ ...list, [items]: [place] })
  const at = encoded.lastIndexOf(text)
  return [encoded.slice(0, at), encoded.slice(at + text.length)]
}

const indented = (value: unknown): string => encodeJson(value, { indent: '  ' })

const jsonFormat: ListFormat = {
  contentType: 'application/json',
  frame: (envelope) => around(envelope, (value) => `${encodeJson(value)}\n`, `"${place}"`),
  item: (value) => encodeJson(value),
  separator: ',',
}

const prettyFormat: ListFormat = {
  contentType: 'application/json',
  frame: (envelope) => around(envelope, (value) => `${indented(value)}\n`, `"${place}"`),
  item: (value) => indented(value).replaceAll('\n', '\n    '),
  separator: ',\n    ',
}

const yamlFormat: ListFormat = {
  contentType: 'application/yaml',
  frame: (envelope) => around(envelope, (value) => encodeYaml(value), `- ${place}\n`),
  item: (value) => encodeYaml([value]),
  separator: '',
}

/** The format of a representation; undefined for protobuf, which begins with its length. */
export function listFormat({ mediaType, pretty }: Representation): ListFormat | undefined {
  if (mediaType === 'application/yaml') return yamlFormat
  if (mediaType !== 'application/json') return undefined
  return pretty ? prettyFormat : jsonFormat
}
