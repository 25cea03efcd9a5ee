import { encodeJson } from '@kubewright/api'
import { ProtoWriter } from './proto-writer.ts'

/** A JSON object of the document. */
type Node = Readonly<Record<string, unknown>>

/**
 * The protobuf form of an OpenAPI v2 document (message openapi.v2.Document of gnostic), which kubectl reads. Field numbers are those of
 * OpenAPIv2.proto; values of no fixed type are YAML texts there, and JSON is YAML.
 */
export function encodeOpenApiV2(document: Node): Buffer {
  const writer = new ProtoWriter().string(1, document['swagger'])
  const info = document['info'] as Node
  writer.message(2, (w) => w.string(1, info['title']).string(2, info['version']))
  writer.message(8, (w) => named(w, 2, document['paths'], pathItem))
  writer.message(9, (w) => named(w, 1, document['definitions'], schema))
  writer.message(10, (w) => named(w, 1, document['parameters'], parameter))
  for (const requirement of (document['security'] as Node[] | undefined) ?? []) {
    writer.message(12, (w) => named(w, 1, requirement, (v, scopes) => v.strings(1, scopes)))
  }
  writer.message(13, (w) => named(w, 1, document['securityDefinitions'], security))
  return writer.finish()
}

/** A map: repeated pairs of a name and a message. */
function named(
  writer: ProtoWriter,
  field: number,
  map: unknown,
  write: (writer: ProtoWriter, value: Node) => void,
): void {
  for (const [name, value] of Object.entries((map ?? {}) as Record<string, Node>)) {
    writer.message(field, (w) => w.string(1, name).message(2, (v) => write(v, value)))
  }
}

function extensions(writer: ProtoWriter, field: number, node: Node): void {
  for (const [name, value] of Object.entries(node)) {
    if (name.startsWith('x-')) writer.message(field, (w) => w.string(1, name).message(2, (v) => any(v, value)))
  }
}

function any(writer: ProtoWriter, value: unknown): void {
  writer.string(2, `${encodeJson(value)}\n`)
}

const methods: Readonly<Record<string, number>> = {
  get: 2,
  put: 3,
  post: 4,
  delete: 5,
  options: 6,
  head: 7,
  patch: 8,
}

function pathItem(writer: ProtoWriter, item: Node): void {
  for (const [method, field] of Object.entries(methods)) {
    const found = item[method] as Node | undefined
    if (found) writer.message(field, (w) => operation(w, found))
  }
  parameterItems(writer, 9, item['parameters'])
}

function operation(writer: ProtoWriter, node: Node): void {
  writer
    .strings(1, node['tags'])
    .string(3, node['description'])
    .string(5, node['operationId'])
    .strings(6, node['produces'])
    .strings(7, node['consumes'])
  parameterItems(writer, 8, node['parameters'])
  writer.message(9, (w) => named(w, 1, node['responses'], (v, found) => v.message(1, (r) => response(r, found))))
  writer.strings(10, node['schemes'])
  extensions(writer, 13, node)
}

function response(writer: ProtoWriter, node: Node): void {
  writer.string(1, node['description'])
  const found = node['schema'] as Node | undefined
  if (found) writer.message(2, (w) => w.message(1, (v) => schema(v, found)))
}

function parameterItems(writer: ProtoWriter, field: number, list: unknown): void {
  for (const item of (list as Node[] | undefined) ?? []) {
    writer.message(field, (w) => {
      if (item['$ref'] === undefined) w.message(1, (v) => parameter(v, item))
      else w.message(2, (v) => v.string(1, item['$ref']))
    })
  }
}

function parameter(writer: ProtoWriter, node: Node): void {
  if (node['in'] === 'body') {
    writer.message(1, (w) => {
      w.string(1, node['description']).string(2, node['name']).string(3, node['in']).bool(4, node['required'])
      w.message(5, (v) => schema(v, node['schema'] as Node))
    })
    return
  }
  // Query parameters have one field more than path parameters, and those behind it move up.
  const isQuery = node['in'] === 'query'
  writer.message(2, (w) =>
    w.message(isQuery ? 3 : 4, (v) =>
      v
        .bool(1, node['required'])
        .string(2, node['in'])
        .string(3, node['description'])
        .string(4, node['name'])
        .string(isQuery ? 6 : 5, node['type'])
        .bool(isQuery ? 20 : 19, node['uniqueItems']),
    ),
  )
}

function security(writer: ProtoWriter, node: Node): void {
  writer.message(2, (w) =>
    w.string(1, node['type']).string(2, node['name']).string(3, node['in']).string(4, node['description']),
  )
}

function schema(writer: ProtoWriter, node: Node): void {
  writer.string(1, node['$ref']).string(2, node['format']).string(3, node['title']).string(4, node['description'])
  if (node['default'] !== undefined) writer.message(5, (w) => any(w, node['default']))
  writer
    .double(6, node['multipleOf'])
    .double(7, node['maximum'])
    .bool(8, node['exclusiveMaximum'])
    .double(9, node['minimum'])
    .bool(10, node['exclusiveMinimum'])
    .integer(11, node['maxLength'])
    .integer(12, node['minLength'])
    .string(13, node['pattern'])
    .integer(14, node['maxItems'])
    .integer(15, node['minItems'])
    .bool(16, node['uniqueItems'])
    .integer(17, node['maxProperties'])
    .integer(18, node['minProperties'])
    .strings(19, node['required'])
  for (const value of (node['enum'] as unknown[] | undefined) ?? []) writer.message(20, (w) => any(w, value))
  const values = node['additionalProperties'] as Node | boolean | undefined
  if (typeof values === 'object') writer.message(21, (w) => w.message(1, (v) => schema(v, values)))
  else if (values !== undefined) writer.message(21, (w) => w.bool(2, values))
  const { type } = node
  if (type !== undefined) writer.message(22, (w) => w.strings(1, Array.isArray(type) ? type : [type]))
  const items = node['items'] as Node | undefined
  if (items) writer.message(23, (w) => w.message(1, (v) => schema(v, items)))
  for (const part of (node['allOf'] as Node[] | undefined) ?? []) writer.message(24, (w) => schema(w, part))
  if (node['properties']) writer.message(25, (w) => named(w, 1, node['properties'], schema))
  extensions(writer, 31, node)
}
