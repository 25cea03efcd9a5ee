import type {
  Condition,
  ConditionDraft,
  EmbeddedResource,
  Fields,
  JSONSchemaProps,
  JsonValue,
  PathOf,
  Schema,
  SchemaIn,
  SchemaOut,
} from '../index.ts'
import { s } from '../index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const ok = <T extends true>(_?: T): void => undefined

// The custom resource of the tutorial.
const home = s.object({
  image: s.string({ minLength: 1 }).describe('Container image to serve.'),
  replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
  domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
})
ok<Equal<SchemaOut<typeof home>, { image: string; replicas: number; domain?: string }>>()
ok<Equal<SchemaIn<typeof home>, { image: string; replicas?: number; domain?: string }>>()

const status = s.object({ readyReplicas: s.int(), conditions: s.conditions('Ready') })
ok<Equal<SchemaOut<typeof status>, { readyReplicas: number; conditions: Condition<'Ready'>[] }>>()
ok<Equal<SchemaIn<typeof status>['conditions'], ConditionDraft<'Ready'>[]>>()
ok<Equal<SchemaOut<ReturnType<typeof s.conditions<[]>>>[number]['type'], string>>()

// Scalars.
ok<Equal<SchemaOut<ReturnType<typeof s.string>>, string>>()
const color = s.enum('red', 'green')
ok<Equal<SchemaOut<typeof color>, 'red' | 'green'>>()
const code = s.enum(301, 302)
ok<Equal<SchemaOut<typeof code>, 301 | 302>>()
const sized = s.enum(['a', 'b'], { maxLength: 1 })
ok<Equal<SchemaOut<typeof sized>, 'a' | 'b'>>()
const statusCode = s.enum([301, 302], { format: 'int32' })
ok<Equal<SchemaOut<typeof statusCode>, 301 | 302>>()
const yes = s.literal(true)
ok<Equal<SchemaOut<typeof yes>, true>>()
const port = s.intOrString()
ok<Equal<SchemaOut<typeof port>, number | string>>()

// Presence: optional, nullable, default, and their order.
const presence = s.object({
  optional: s.string().optional(),
  nullable: s.string().nullable(),
  both: s.string().nullable().optional(),
  defaulted: s.string().default('x'),
  optionalDefaulted: s.string().optional().default('x'),
  nullableDefaulted: s.int().nullable().default(3),
  described: s.bool().optional().describe('Whether it is.').title('Is it?').example(true),
})
ok<
  Equal<
    SchemaOut<typeof presence>,
    {
      nullable: string | null
      defaulted: string
      optionalDefaulted: string
      nullableDefaulted: number | null
      optional?: string
      both?: string | null
      described?: boolean
    }
  >
>()
ok<
  Equal<
    SchemaIn<typeof presence>,
    {
      nullable: string | null
      optional?: string
      both?: string | null
      defaulted?: string
      optionalDefaulted?: string
      nullableDefaulted?: number | null
      described?: boolean
    }
  >
>()

// A value of any JSON type is a required field unless it is declared optional.
const any = s.raw({ type: 'string' })
const open = s.object({ json: s.json(), raw: s.raw<unknown>({}), maybe: any.optional(), filled: any.default('x') })
ok<Equal<SchemaOut<typeof open>, { json: JsonValue; raw: unknown; filled: JsonValue; maybe?: JsonValue }>>()
ok<Equal<SchemaIn<typeof open>, { json: JsonValue; raw: unknown; maybe?: JsonValue; filled?: JsonValue }>>()

// Lists and maps. An item with a default is always present.
const lists = s.object({
  names: s.array(s.string(), { listType: 'set', maxItems: 3 }),
  ports: s.array(s.object({ name: s.string(), port: s.int().default(80), note: s.string().optional() }), {
    listType: 'map',
    keys: ['name', 'port'],
  }),
  labels: s.map(s.string()),
  weights: s.map(s.int().default(1)),
  defaults: s.array(s.string().default('x')),
  json: s.array(s.raw<unknown>({ type: 'string' })),
})
ok<
  Equal<
    SchemaOut<typeof lists>,
    {
      names: string[]
      ports: { name: string; port: number; note?: string }[]
      labels: Record<string, string>
      weights: Record<string, number>
      defaults: string[]
      json: unknown[]
    }
  >
>()
ok<Equal<SchemaIn<typeof lists>['ports'], { name: string; port?: number; note?: string }[]>>()
ok<Equal<SchemaIn<typeof lists>['weights'], Record<string, number>>>()
ok<Equal<SchemaIn<typeof lists>['defaults'], string[]>>()
ok<Equal<SchemaIn<typeof lists>['json'], unknown[]>>()

// Nested defaults: `{}` is a default for an object whose fields all have defaults.
const nested = s.object({ probe: s.object({ seconds: s.int().default(5) }).default({}) })
ok<Equal<SchemaOut<typeof nested>, { probe: { seconds: number } }>>()
ok<Equal<SchemaIn<typeof nested>, { probe?: { seconds?: number } }>>()

// Exclusive fields become a union.
const source = s.object(
  { name: s.string(), git: s.string().optional(), oci: s.int().optional() },
  { exactlyOneOf: ['git', 'oci'], mapType: 'atomic' },
)
ok<
  Equal<
    SchemaOut<typeof source>,
    { name: string; git: string; oci?: never } | { name: string; oci: number; git?: never }
  >
>()
ok<
  Equal<
    SchemaIn<typeof source>,
    { name: string; git: string; oci?: never } | { name: string; oci: number; git?: never }
  >
>()
const loose = s.object({ a: s.string().optional(), b: s.int().optional() }, { atMostOneOf: ['a', 'b'] })
ok<Equal<SchemaOut<typeof loose>, { a?: string; b?: number }>>()

// Unknown fields.
const extra = s.object({ a: s.string() }, { preserveUnknownFields: true })
ok<Equal<SchemaOut<typeof extra>, { [key: string]: unknown; a: string }>>()
const empty = s.object({})
ok<Equal<keyof SchemaOut<typeof empty>, never>>()

// Embedding.
interface PodTemplate {
  metadata?: { labels?: Record<string, string> }
}
const template = s.from<PodTemplate>({ type: 'object' })
ok<Equal<SchemaOut<typeof template>, PodTemplate>>()
declare const typedSchema: JSONSchemaProps & { readonly $type?: PodTemplate }
const inferred = s.from(typedSchema)
ok<Equal<SchemaOut<typeof inferred>, PodTemplate>>()
declare const Deployment: { schema: { type: 'object' }; $read: { readonly a: 1 }; $write: { a: 1 } }
// Also as a field or an item, where the compiler infers types from the context.
const embedding = s.object({
  template: s.from(typedSchema),
  templates: s.array(s.from(typedSchema)),
  object: s.embeddedResource(),
  any: s.raw({ type: 'string' }),
})
ok<
  Equal<
    SchemaIn<typeof embedding>,
    { template: PodTemplate; templates: PodTemplate[]; object: EmbeddedResource; any: JsonValue }
  >
>()
ok<Equal<SchemaOut<typeof embedding>, SchemaIn<typeof embedding>>>()
const whole = s.from(Deployment)
ok<Equal<typeof whole, Schema<{ readonly a: 1 }, { a: 1 }>>>()

// Combinations are typed by the fields.
s.object(
  { a: s.string().optional(), b: s.object({ c: s.int() }).optional(), list: s.array(s.string()) },
  {
    oneOf: [{ required: ['a'] }, { required: ['b'] }],
    anyOf: [
      { properties: { b: { properties: { c: { minimum: 3 } } } } },
      { properties: { list: { items: { enum: ['x'] } } } },
    ],
    not: { properties: { a: { pattern: /^x/ } } },
  },
)

// Paths.
ok<Equal<PathOf<{ spec: { a?: { b: string }; list: string[] } }>, 'spec' | 'spec.a' | 'spec.a.b' | 'spec.list'>>()
ok<Equal<PathOf<string>, never>>()

// Every schema is a Schema<unknown, unknown>, so that fields can be passed around.
const fields: Fields = { a: home, b: color, c: lists.optional() }
void fields
const anySchema: Schema<unknown, unknown> = source
void anySchema

// ---- Programs that must not compile.

// @ts-expect-error a default has the type of the field
s.int().default('1')
// @ts-expect-error a default of an enum is one of its values
s.enum('a', 'b').default('c')
// @ts-expect-error null is only a value of nullable fields
s.string().default(null)
// @ts-expect-error an enum has values
s.enum()
// @ts-expect-error strings and numbers do not mix
s.enum('a', 1)
// @ts-expect-error unknown formats are ignored by a CRD
s.string({ format: 'hostnam' })
// @ts-expect-error constraints of a number are not those of a string
s.string({ minimum: 3 })
// @ts-expect-error the API server rejects uniqueItems; use listType set
s.array(s.string(), { uniqueItems: true })
// @ts-expect-error an item cannot be optional
s.array(s.string().optional())
// @ts-expect-error an item of any type cannot be optional either
s.array(any.optional())
// @ts-expect-error a map value cannot be optional
s.map(s.string().optional())
// @ts-expect-error a list map needs keys
s.array(s.object({ name: s.string() }), { listType: 'map' })
// @ts-expect-error keys belong to list maps
s.array(s.object({ name: s.string() }), { listType: 'set', keys: ['name'] })
// @ts-expect-error a key is a field of the item
s.array(s.object({ name: s.string() }), { listType: 'map', keys: ['nam'] })
// @ts-expect-error a key is always present
s.array(s.object({ name: s.string().optional() }), { listType: 'map', keys: ['name'] })
// @ts-expect-error a key is scalar
s.array(s.object({ name: s.object({}) }), { listType: 'map', keys: ['name'] })
// @ts-expect-error a key is not null
s.array(s.object({ name: s.string().nullable() }), { listType: 'map', keys: ['name'] })
// @ts-expect-error a field is a schema
s.object({ name: 'string' })
// @ts-expect-error no such option
s.object({ name: s.string() }, { additionalProperties: true })
// @ts-expect-error only optional fields can exclude each other
s.object({ a: s.string(), b: s.string().optional() }, { exactlyOneOf: ['a', 'b'] })
// @ts-expect-error no such field
s.object({ a: s.string().optional(), b: s.string().optional() }, { atMostOneOf: ['a', 'c'] })
// @ts-expect-error combinations validate known fields only
s.object({ a: s.string().optional() }, { anyOf: [{ required: ['b'] }] })
// @ts-expect-error combinations only validate, they cannot have a type
s.string({ anyOf: [{ type: 'string' }] })
// @ts-expect-error no such reason
s.string().rule('self != ""', { reason: 'Invalid' })
// @ts-expect-error fieldPath must be an existing field
home.rule('true', { fieldPath: '.replica' })
home.rule('true', { fieldPath: '.replicas' })
home.rule('true', { fieldPath: "['replicas']" })

declare const written: SchemaIn<typeof source>
// @ts-expect-error both at once
const both: typeof written = { name: 'a', git: 'x', oci: 1 }
// @ts-expect-error none
const none: typeof written = { name: 'a' }
void both
void none
