import { deepEqual } from '@kubewright/base'
import type { ListSettings } from '../builder/array-json.ts'
import { defaultMismatch } from '../builder/default-mismatch.ts'
import type { ObjectSettings } from '../builder/object-json.ts'
import { s } from '../builder/s.ts'
import type { Schema } from '../builder/schema.ts'
import { intOrStringJson, quantityJson } from '../builder/well-known.ts'
import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'
import { armsFit } from './arms-fit.ts'
import { normalSchema } from './normal-schema.ts'
import { type ChainDoc, docComment, propertyName, renderSource, type SourceDoc, valueDoc } from './source-doc.ts'
import { typeDoc } from './type-doc.ts'

/** The layout of source text. */
export interface SourceOptions {
  /** The maximum line width. @default 120 */
  readonly width?: number | undefined
  /** The indentation of the line on which the expression starts. @default 0 */
  readonly indent?: number | undefined
  /** The column in which the expression starts. @default indent */
  readonly column?: number | undefined
}

/** Options of {@link schemaToSource}. */
export interface SchemaSourceOptions extends SourceOptions {
  /** Whether the field with this schema may be absent. @default false */
  readonly optional?: boolean | undefined
}

/**
 * Returns a TypeScript expression that rebuilds a structural schema with `s`. Evaluating it gives a schema equivalent
 * to `json`: each part is built and compared while it is written, and parts that `s` cannot express become `s.raw`.
 */
export function schemaToSource(json: JSONSchemaProps, options: SchemaSourceOptions = {}): string {
  return render(write(normalSchema(json), options.optional ?? false).doc, options)
}

/** Returns a TypeScript expression for JSON data. A single string is broken between words if it is too wide. */
export function dataToSource(value: unknown, options: SourceOptions = {}): string {
  return render(typeof value === 'string' ? { words: value } : valueDoc(value), options)
}

/** Returns a doc comment with the text, broken between words if it is too wide. */
export function commentToSource(text: string, { width = 120, indent = 0 }: SourceOptions = {}): string {
  return docComment(text, width - indent).join(`\n${' '.repeat(indent)}`)
}

const render = (doc: SourceDoc, { width = 120, indent = 0, column = indent }: SourceOptions): string =>
  renderSource(doc, width, indent, column)

/** Source text and the schema to which it evaluates. */
interface Written {
  readonly doc: ChainDoc
  readonly schema: Schema<unknown, unknown>
}

// The functions of `s` take typed options. Here the options are data from a CRD, which the functions check at run time,
// as for JavaScript callers.
type Loose = (...args: readonly unknown[]) => Schema<unknown, unknown>
const builders = s as unknown as Readonly<Record<keyof typeof s, Loose>>

const object = (items: readonly SourceDoc[], broken = false): SourceDoc => ({
  open: '{',
  close: '}',
  padded: true,
  items,
  broken,
})

function call(
  word: keyof typeof s,
  args: readonly (readonly [SourceDoc, unknown])[],
  typeArgs: SourceDoc = '',
): Written {
  const items = args.map(([doc]) => doc)
  const values = args.map(([, value]) => value)
  const calls: SourceDoc[] = [[`.${word}`, typeArgs, { open: '(', close: ')', items }]]
  return { doc: { head: 's', calls }, schema: builders[word](...values) }
}

/** Returns an options argument, or none if there are no options. */
function optionsArg(options: object): (readonly [SourceDoc, unknown])[] {
  return Object.keys(options).length === 0 ? [] : [[valueDoc(options), options]]
}

function write(json: JSONSchemaProps, optional: boolean): Written {
  const { description, title, example, nullable, default: value, 'x-kubernetes-validations': rules, ...core } = json
  const extras: Extras = { description, title, example, nullable, default: value, rules, optional }
  const { default: _value, ...undefaulted } = json
  const attempts: readonly (() => Written)[] = [
    () => chain(plainWord(core), extras),
    () => chain(raw(core), extras),
    () => chain(raw(undefaulted), { default: value, optional }),
  ]
  let failure: unknown
  for (const attempt of attempts) {
    try {
      const written = attempt()
      if (deepEqual(written.schema.json, json)) return written
    } catch (error) {
      // A function rejects schemas that it cannot express; the next attempt is more general.
      if (!(error instanceof TypeError || error instanceof RangeError)) throw error
      failure = error
    }
  }
  throw new TypeError('Cannot write schema as source: its default does not match the schema', { cause: failure })
}

interface Extras {
  readonly description?: string | undefined
  readonly title?: string | undefined
  readonly example?: unknown
  readonly nullable?: boolean | undefined
  readonly default?: unknown
  readonly rules?: readonly ValidationRule[] | undefined
  readonly optional: boolean
}

function chain(base: Written, extras: Extras): Written {
  refuseUntypable(base.schema.json, extras)
  const calls: SourceDoc[] = [...base.doc.calls]
  let schema = base.schema
  const add = (method: string, items: readonly SourceDoc[], next: Schema<unknown, unknown>): void => {
    calls.push([`.${method}`, { open: '(', close: ')', items }])
    schema = next
  }
  const { description, title, example, nullable, rules = [], optional } = extras
  if (nullable) add('nullable', [], schema.nullable())
  for (const { rule, ...rest } of rules) {
    const { message, ...others } = rest
    const onlyMessage = message !== undefined && Object.keys(others).length === 0
    const second: SourceDoc[] = onlyMessage
      ? [{ words: message }]
      : Object.keys(rest).length > 0
        ? [ruleOptions(rest)]
        : []
    // In a CRD, the field path may be any string.
    add('rule', [{ words: rule }, ...second], schema.rule(rule, rest as { readonly message?: string | undefined }))
  }
  if (extras.default !== undefined) add('default', [valueDoc(extras.default)], schema.default(extras.default))
  else if (optional) add('optional', [], schema.optional())
  if (title !== undefined) add('title', [{ words: title }], schema.title(title))
  if (description !== undefined) add('describe', [{ words: description }], schema.describe(description))
  if (example !== undefined) add('example', [valueDoc(example)], schema.example(example))
  return { doc: { head: base.doc.head, calls }, schema }
}

/** Throws for expressions that evaluate correctly but do not compile. */
function refuseUntypable(json: JSONSchemaProps, { example, nullable, rules = [] }: Extras): void {
  const isResource = json['x-kubernetes-embedded-resource'] === true
  const required = isResource ? { required: ['apiVersion', 'kind', ...(json.required ?? [])] } : {}
  const typed = { ...json, ...required, nullable: nullable ?? false }
  const mismatch = example !== undefined && defaultMismatch(typed, example) !== undefined
  // The type of field paths ends after five levels.
  if (mismatch || rules.some((rule) => (rule.fieldPath?.split('.').length ?? 0) > 6)) throw new TypeError('not typable')
}

function ruleOptions(options: object): SourceDoc {
  const prose = new Set(['message', 'messageExpression'])
  return object(
    Object.entries(options).map(([name, value]) => [
      `${name}: `,
      prose.has(name) ? { words: String(value) } : valueDoc(value),
    ]),
  )
}

function raw(json: JSONSchemaProps): Written {
  const [out, written] = [typeDoc(json, 'out'), typeDoc(json, 'in')]
  const types = deepEqual(out, written) ? [out] : [out, written]
  // Without type arguments, the value is any JSON.
  if (out === 'unknown') return call('raw', [[valueDoc(json), json]])
  const typeArgs: SourceDoc = ['<', types.flatMap((type, index) => (index === 0 ? [type] : [', ', type])), '>']
  return call('raw', [[valueDoc(json), json]], typeArgs)
}

const soleFormats: Readonly<Record<string, 'time' | 'bytes' | 'duration'>> = {
  'date-time': 'time',
  byte: 'bytes',
  duration: 'duration',
}

/** Writes a schema without description, default and the like as a call of `s`. Throws if there is no such function. */
function plainWord(core: JSONSchemaProps): Written {
  const { type, enum: values, ...rest } = core
  if (!armsFit(core['x-kubernetes-int-or-string'] ? withoutTypeArms(core) : core))
    throw new TypeError('arms do not fit the type')
  if (core['x-kubernetes-int-or-string']) return intOrString(core)
  if (values !== undefined) return enumWord(type, values, rest)
  switch (type) {
    case 'string': {
      const sole =
        Object.keys(rest).length === 1 && Object.hasOwn(soleFormats, rest.format ?? '')
          ? soleFormats[rest.format!]
          : undefined
      return sole === undefined ? call('string', optionsArg(rest)) : call(sole, [])
    }
    case 'integer':
      return call('int', optionsArg(rest))
    case 'number':
      return call('number', optionsArg(rest))
    case 'boolean':
      return call('bool', optionsArg(rest))
    case 'array':
      return arrayWord(rest)
    case 'object':
      return objectWord(rest)
    default:
      return call('json', [])
  }
}

function enumWord(type: string | undefined, values: readonly unknown[], rest: object): Written {
  if (type === 'boolean') return call('literal', [[valueDoc(values[0]), values[0]]])
  const args = values.map((value): [SourceDoc, unknown] => [valueDoc(value), value])
  return Object.keys(rest).length === 0
    ? call('enum', args)
    : call('enum', [[valueDoc(values), values], ...optionsArg(rest)])
}

function intOrString(core: JSONSchemaProps): Written {
  if (deepEqual(core, quantityJson)) return call('quantity', [])
  const { 'x-kubernetes-int-or-string': _mark, ...rest } = core
  if (deepEqual(rest.anyOf, intOrStringJson.anyOf)) {
    const { anyOf: _arms, ...options } = rest
    return call('intOrString', optionsArg(options))
  }
  const { allOf: [, second, ...more] = [], ...others } = rest
  const options = { ...others, anyOf: second?.anyOf, ...(more.length > 0 ? { allOf: more } : {}) }
  return call('intOrString', optionsArg(options))
}

/** Returns an int-or-string schema without the arms that state its types, which `s.intOrString` adds itself. */
function withoutTypeArms(core: JSONSchemaProps): JSONSchemaProps {
  const isTypeArms = (arm: JSONSchemaProps): boolean => deepEqual(arm.anyOf, intOrStringJson.anyOf)
  const { anyOf, ...rest } = core
  const without = isTypeArms(core) || anyOf === undefined ? rest : core
  return { ...without, allOf: (core.allOf ?? []).filter((arm) => !isTypeArms(arm)) }
}

function arrayWord(rest: JSONSchemaProps): Written {
  const { items = {}, 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys, ...options } = rest
  const item = write(items, false)
  const settings = { ...options, ...(listType ? { listType } : {}), ...(keys ? { keys } : {}) } as ListSettings
  return call('array', [[item.doc, item.schema], ...optionsArg(settings)])
}

// The comment that editors show where a field is used. The complete text is in the schema.
function firstSentence(text: string): string {
  const [paragraph = ''] = text.trim().split(/\n\s*\n/)
  return /^.*?[.!?](?=\s+["'`(]?[A-Z])/s.exec(paragraph)?.[0] ?? paragraph
}

function objectWord(rest: JSONSchemaProps): Written {
  const {
    properties = {},
    required = [],
    additionalProperties,
    'x-kubernetes-map-type': mapType,
    'x-kubernetes-preserve-unknown-fields': open,
    'x-kubernetes-embedded-resource': embedded,
    ...others
  } = rest
  if (embedded) return call('embeddedResource', [])
  const options = { ...others, ...(mapType ? { mapType } : {}) }
  if (typeof additionalProperties === 'object') {
    const value = write(additionalProperties, false)
    return call('map', [[value.doc, value.schema], ...optionsArg(options)])
  }
  const fields = Object.entries(properties).map(([name, field]) => {
    const written = write(field, !required.includes(name))
    const sentence = firstSentence(field.description ?? '')
    const comment: SourceDoc[] = sentence === '' ? [] : [{ comment: sentence }]
    return {
      name,
      comment,
      ...written,
      isObject: field.properties !== undefined || field.items?.properties !== undefined,
    }
  })
  // Names that the fields do not imply: required fields with a default, and names that are not fields.
  const extra = required.filter((name) => !Object.hasOwn(properties, name) || properties[name]?.default !== undefined)
  const settings: ObjectSettings = {
    ...options,
    ...(extra.length > 0 ? { required: extra } : {}),
    ...(open ? { preserveUnknownFields: true } : {}),
  } as ObjectSettings
  const broken = fields.length > 4 || fields.some((field) => field.isObject)
  const doc = object(
    fields.map(({ name, doc, comment }) => [...comment, `${propertyName(name)}: `, doc]),
    broken,
  )
  const schemas = Object.fromEntries(fields.map(({ name, schema }) => [name, schema]))
  return call('object', [[doc, schemas], ...optionsArg(settings)])
}
