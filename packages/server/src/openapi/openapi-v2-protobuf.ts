import { encodeJson } from '@kubewright/api'
import { ProtoMessage } from '@kubewright/base/protobuf'

/** A JSON object of the document. */
type Node = Readonly<Record<string, unknown>>

/** Adds the value of a JSON field to a message. It is called for fields that the JSON object has. */
type Encode<T = never> = (message: ProtoMessage, field: number, value: T) => void

/** A field of a message: its number, the name of the JSON field, and the encoding of its value. */
type Field = readonly [number: number, name: string, encode: Encode]

// Field numbers are those of gnostic's OpenAPIv2.proto.

const text: Encode<string> = (message, field, value) => message.text(field, value)
const texts: Encode<readonly string[]> = (message, field, values) => message.texts(field, values)
const double: Encode<number> = (message, field, value) => message.double(field, value)
const integer: Encode<number | boolean> = (message, field, value) => message.integer(field, value)

/** A value of any type is YAML in the second field of a message. JSON is YAML. */
const any: Encode<unknown> = (message, field, value) =>
  message.message(field, new ProtoMessage().text(2, `${encodeJson(value)}\n`))

const each =
  <T>(encode: Encode<T>): Encode<readonly T[]> =>
  (message, field, values) => {
    for (const value of values) encode(message, field, value)
  }

const nested =
  (content: (node: Node) => ProtoMessage): Encode<Node> =>
  (message, field, node) =>
    message.message(field, content(node))

/** A message whose only field, number 1, is the given one. */
const wrapped =
  <T>(encode: Encode<T>): Encode<T> =>
  (message, field, value) => {
    const inner = new ProtoMessage()
    encode(inner, 1, value)
    message.message(field, inner)
  }

/** A map is a repeated pair of a name and a message. */
const named =
  (content: (value: Node) => ProtoMessage): Encode<Readonly<Record<string, Node>>> =>
  (message, field, map) => {
    for (const [name, value] of Object.entries(map)) {
      message.message(field, new ProtoMessage().text(1, name).message(2, content(value)))
    }
  }

function encodeFields(node: Node, fields: readonly Field[]): ProtoMessage {
  const message = new ProtoMessage()
  for (const [number, name, encode] of fields) {
    const value = node[name]
    if (value !== undefined) encode(message, number, value as never)
  }
  return message
}

/** Adds the fields whose names start with `x-`. */
function withExtensions(message: ProtoMessage, field: number, node: Node): ProtoMessage {
  for (const [name, value] of Object.entries(node)) {
    if (!name.startsWith('x-')) continue
    const pair = new ProtoMessage().text(1, name)
    any(pair, 2, value)
    message.message(field, pair)
  }
  return message
}

/** The protobuf form of an OpenAPI v2 document (message openapi.v2.Document of gnostic), which kubectl reads. */
export function encodeOpenApiV2(document: Node): Buffer {
  return encodeFields(document, documentFields).encode()
}

const schema = (node: Node): ProtoMessage => withExtensions(encodeFields(node, schemaFields), 31, node)

const response = (node: Node): ProtoMessage => encodeFields(node, responseFields)

const operation = (node: Node): ProtoMessage => withExtensions(encodeFields(node, operationFields), 13, node)

const pathItem = (node: Node): ProtoMessage => encodeFields(node, pathItemFields)

function parameter(node: Node): ProtoMessage {
  const place = node['in']
  if (place === 'body') return new ProtoMessage().message(1, encodeFields(node, bodyParameterFields))
  const [number, fields] =
    place === 'query' ? ([3, queryParameterFields] as const) : ([4, pathParameterFields] as const)
  return new ProtoMessage().message(2, new ProtoMessage().message(number, encodeFields(node, fields)))
}

const parameterItem = (node: Node): ProtoMessage =>
  node['$ref'] === undefined
    ? new ProtoMessage().message(1, parameter(node))
    : new ProtoMessage().message(2, encodeFields(node, [[1, '$ref', text]]))

const additionalProperties: Encode<Node | boolean> = (message, field, value) =>
  message.message(
    field,
    typeof value === 'boolean' ? new ProtoMessage().integer(2, value) : new ProtoMessage().message(1, schema(value)),
  )

const typeItem: Encode<string | readonly string[]> = (message, field, type) =>
  message.message(field, new ProtoMessage().texts(1, typeof type === 'string' ? [type] : type))

const schemaFields: readonly Field[] = [
  [1, '$ref', text],
  [2, 'format', text],
  [3, 'title', text],
  [4, 'description', text],
  [5, 'default', any],
  [6, 'multipleOf', double],
  [7, 'maximum', double],
  [8, 'exclusiveMaximum', integer],
  [9, 'minimum', double],
  [10, 'exclusiveMinimum', integer],
  [11, 'maxLength', integer],
  [12, 'minLength', integer],
  [13, 'pattern', text],
  [14, 'maxItems', integer],
  [15, 'minItems', integer],
  [16, 'uniqueItems', integer],
  [17, 'maxProperties', integer],
  [18, 'minProperties', integer],
  [19, 'required', texts],
  [20, 'enum', each(any)],
  [21, 'additionalProperties', additionalProperties],
  [22, 'type', typeItem],
  [23, 'items', wrapped(nested(schema))],
  [24, 'allOf', each(nested(schema))],
  [25, 'properties', wrapped(named(schema))],
]

const responseFields: readonly Field[] = [
  [1, 'description', text],
  [2, 'schema', wrapped(nested(schema))],
]

const responseValue = (node: Node): ProtoMessage => new ProtoMessage().message(1, response(node))

const operationFields: readonly Field[] = [
  [1, 'tags', texts],
  [3, 'description', text],
  [5, 'operationId', text],
  [6, 'produces', texts],
  [7, 'consumes', texts],
  [8, 'parameters', each(nested(parameterItem))],
  [9, 'responses', wrapped(named(responseValue))],
  [10, 'schemes', texts],
]

const pathItemFields: readonly Field[] = [
  [2, 'get', nested(operation)],
  [3, 'put', nested(operation)],
  [4, 'post', nested(operation)],
  [5, 'delete', nested(operation)],
  [6, 'options', nested(operation)],
  [7, 'head', nested(operation)],
  [8, 'patch', nested(operation)],
  [9, 'parameters', each(nested(parameterItem))],
]

const bodyParameterFields: readonly Field[] = [
  [1, 'description', text],
  [2, 'name', text],
  [3, 'in', text],
  [4, 'required', integer],
  [5, 'schema', nested(schema)],
]

const pathParameterFields: readonly Field[] = [
  [1, 'required', integer],
  [2, 'in', text],
  [3, 'description', text],
  [4, 'name', text],
  [5, 'type', text],
  [19, 'uniqueItems', integer],
]

/** A query parameter has field 5, allowEmptyValue, before those of a path parameter. */
const queryParameterFields: readonly Field[] = pathParameterFields.map(([number, name, encode]) => [
  number < 5 ? number : number + 1,
  name,
  encode,
])

const infoFields: readonly Field[] = [
  [1, 'title', text],
  [2, 'version', text],
]

const securityDefinitionFields: readonly Field[] = [
  [1, 'type', text],
  [2, 'name', text],
  [3, 'in', text],
  [4, 'description', text],
]

const securityDefinition = (node: Node): ProtoMessage =>
  new ProtoMessage().message(2, encodeFields(node, securityDefinitionFields))

/** The scopes of each security scheme. */
const securityRequirement: Encode<Readonly<Record<string, readonly string[]>>> = (message, field, scopes) => {
  for (const [name, values] of Object.entries(scopes)) {
    message.message(field, new ProtoMessage().text(1, name).message(2, new ProtoMessage().texts(1, values)))
  }
}

const documentFields: readonly Field[] = [
  [1, 'swagger', text],
  [2, 'info', nested((info) => encodeFields(info, infoFields))],
  // Field 1 of the message Paths holds extensions.
  [
    8,
    'paths',
    (message, field, paths) => {
      const inner = new ProtoMessage()
      named(pathItem)(inner, 2, paths)
      message.message(field, inner)
    },
  ],
  [9, 'definitions', wrapped(named(schema))],
  [10, 'parameters', wrapped(named(parameter))],
  [12, 'security', each(wrapped(securityRequirement))],
  [13, 'securityDefinitions', wrapped(named(securityDefinition))],
]
