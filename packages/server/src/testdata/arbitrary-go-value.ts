import fc, { type GeneratorValue } from 'fast-check'
import { defaultServedRelease } from '../codec/served-release.ts'

const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'a', 'nginx:1.25', 'x'.repeat(200)),
)
const seconds = fc.date({
  min: new Date('1970-01-02T00:00:00Z'),
  max: new Date('2999-12-31T00:00:00Z'),
  noInvalidDate: true,
})
const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null)))

const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: texts,
  bool: fc.boolean(),
  int32: fc.integer(),
  int64: fc.oneof(fc.maxSafeInteger(), fc.integer({ min: -3, max: 300 })),
  int: fc.maxSafeInteger(),
  float64: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  '[]byte': fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('base64')),
  'meta/v1.Time': seconds.map((date) => `${date.toISOString().slice(0, 19)}Z`),
  'meta/v1.MicroTime': seconds.map((date) => `${date.toISOString().slice(0, 23)}007Z`),
  'meta/v1.Duration': fc.constantFrom('0s', '1h30m0s', '-5s', '1.5s'),
  'resource.Quantity': fc.constantFrom('0', '1', '250m', '64Mi', '1e3', '-2'),
  'intstr.IntOrString': fc.oneof(fc.integer(), fc.constantFrom('50%', 'http', '')),
  'meta/v1.FieldsV1': json,
  'runtime.RawExtension': json,
  'apiextensions/v1.JSON': fc.oneof(texts, fc.integer(), fc.boolean(), json),
}

/** A random value of a Go type in its JSON form. Deeper values have fewer optional fields. */
export function arbitraryGoValue(type: string, draw: GeneratorValue, depth = 0): unknown {
  const scalar = scalars[type]
  if (scalar) return draw(() => scalar)
  const own = (inner: string): unknown => arbitraryGoValue(inner, draw, depth + 1)
  const count = (): number => draw(fc.integer, { min: 0, max: depth < 4 ? 2 : 1 })
  if (type.startsWith('*')) return arbitraryGoValue(type.slice(1), draw, depth)
  if (type.startsWith('[]')) return Array.from({ length: count() }, () => own(type.slice(2)))
  if (type.startsWith('map[')) {
    const value = type.slice(type.indexOf(']') + 1)
    return Object.fromEntries(Array.from({ length: count() }, () => [draw(() => texts), own(value)]))
  }
  const schema = 'apiextensions/v1.JSONSchemaProps'
  if (type === `${schema}OrBool`) return draw(fc.boolean) ? draw(fc.boolean) : own(schema)
  if (type === `${schema}OrArray`) return draw(fc.boolean) ? [own(schema), own(schema)] : own(schema)
  if (type === `${schema}OrStringArray`) return draw(fc.boolean) ? ['a', draw(() => texts)] : own(schema)
  const declaration = defaultServedRelease.declarations.find(type)
  if (declaration === undefined) throw new Error(`Cannot generate values of ${type}`)
  if (typeof declaration === 'string') return arbitraryGoValue(declaration, draw, depth)
  const object: Record<string, unknown> = {}
  for (const field of declaration) {
    if (field.label.startsWith('TypeMeta')) continue
    if (draw(fc.integer, { min: 0, max: 99 }) < 90 / (1 + depth * depth)) object[field.name] = own(field.type)
  }
  return object
}
