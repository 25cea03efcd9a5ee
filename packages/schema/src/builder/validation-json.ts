import { isSupportedFormat } from '@kubewright/base'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { patternSource } from './pattern-source.ts'

type Keyword = keyof JSONSchemaProps

const stringKeywords: readonly Keyword[] = ['minLength', 'maxLength', 'pattern', 'format']
const numberKeywords: readonly Keyword[] = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'format',
]
const junctors: readonly Keyword[] = ['allOf', 'anyOf', 'oneOf', 'not']

type BuilderName = 'string' | 'number' | 'bool' | 'intOrString' | 'array' | 'map' | 'object'

/** The option names of each function of `s`: a run-time check for callers that the compiler does not check. */
export const optionNames: Readonly<Record<BuilderName, ReadonlySet<string>>> = {
  string: new Set<string>([...stringKeywords, ...junctors]),
  number: new Set<string>([...numberKeywords, ...junctors]),
  bool: new Set<string>(junctors),
  intOrString: new Set<string>(['minimum', 'maximum', 'pattern', 'minLength', 'maxLength', ...junctors]),
  array: new Set<string>(['minItems', 'maxItems', 'listType', 'keys', ...junctors]),
  map: new Set<string>(['minProperties', 'maxProperties', 'mapType', ...junctors]),
  object: new Set<string>([
    'minProperties',
    'maxProperties',
    'mapType',
    'preserveUnknownFields',
    'required',
    'exactlyOneOf',
    'atMostOneOf',
    'atLeastOneOf',
    ...junctors,
  ]),
}

const armKeywords = new Set<string>([
  ...stringKeywords,
  ...numberKeywords,
  ...junctors,
  'enum',
  'minItems',
  'maxItems',
  'items',
  'minProperties',
  'maxProperties',
  'required',
  'properties',
])

const pairs: readonly (readonly [Keyword, Keyword])[] = [
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
  ['minimum', 'maximum'],
]
const numericFormats = new Set(['int32', 'int64', 'float', 'double'])
const counts = new Set<string>(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])

/**
 * Converts the options of a function of `s`, or an arm of a combination, to keywords: patterns become RE2 text, arms
 * are converted recursively.
 * @throws TypeError or RangeError that names the option, if no value could satisfy it or a CRD would reject it
 */
export function validationJson(options: object, allowed: ReadonlySet<string>, where: string): JSONSchemaProps {
  const entries: [string, unknown][] = []
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    if (!allowed.has(name)) {
      throw new TypeError(
        `Cannot build ${where}: unknown option "${name}"; supported options are ${[...allowed].sort().join(', ')}`,
      )
    }
    entries.push([name, convert(name, value, where)])
  }
  const json = Object.fromEntries(entries) as JSONSchemaProps
  if (json.format !== undefined) checkFormat(json.format, allowed, where)
  for (const [least, most] of pairs) checkPair(json, least, most, where)
  return json
}

function convert(name: string, value: unknown, where: string): unknown {
  if (name === 'pattern') return patternSource(value as string | RegExp, where)
  if (name === 'not' || name === 'items') return arm(value, `${where} ${name}`)
  if (name === 'allOf' || name === 'anyOf' || name === 'oneOf') {
    if (!Array.isArray(value) || value.length === 0)
      throw new TypeError(`Cannot build ${where}: ${name} requires at least one arm`)
    return value.map((each, index) => arm(each, `${where} ${name}[${index}]`))
  }
  if (name === 'properties') {
    const fields = Object.entries(value as object)
    return Object.fromEntries(fields.map(([field, each]) => [field, arm(each, `${where} properties.${field}`)]))
  }
  if (counts.has(name) && !(Number.isInteger(value) && (value as number) >= 0)) {
    throw new RangeError(`Cannot build ${where}: ${name} must be a non-negative integer: current value is ${value}`)
  }
  if ((name === 'minimum' || name === 'maximum') && !Number.isFinite(value)) {
    throw new RangeError(`Cannot build ${where}: ${name} must be a finite number: current value is ${value}`)
  }
  if (name === 'multipleOf' && !((value as number) > 0 && Number.isFinite(value))) {
    throw new RangeError(`Cannot build ${where}: multipleOf must be greater than 0: current value is ${value}`)
  }
  return value
}

// The server ignores unsupported formats, so a typo would silently disable the check.
function checkFormat(format: string, allowed: ReadonlySet<string>, where: string): void {
  const isNumeric = numericFormats.has(format)
  const takesNumbers = allowed !== optionNames.string
  const takesStrings = allowed !== optionNames.number
  if ((isNumeric && takesNumbers) || (takesStrings && isSupportedFormat(format))) return
  throw new TypeError(
    `Cannot build ${where}: the API server does not check format "${format}" here; drop it or use pattern`,
  )
}

function arm(value: unknown, where: string): JSONSchemaProps {
  if (typeof value !== 'object' || value === null || 'json' in value) {
    throw new TypeError(
      `Cannot build ${where}: an arm only validates: pass keywords such as { minLength: 1 }, not a schema of s`,
    )
  }
  return validationJson(value, armKeywords, where)
}

function checkPair(json: JSONSchemaProps, least: Keyword, most: Keyword, where: string): void {
  const [low, high] = [json[least], json[most]]
  if (typeof low === 'number' && typeof high === 'number' && low > high) {
    throw new RangeError(`Cannot build ${where}: ${least} ${low} is greater than ${most} ${high}, so no value is valid`)
  }
}
