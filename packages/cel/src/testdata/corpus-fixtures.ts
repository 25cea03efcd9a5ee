import type { CelSchema } from '../schema/cel-schema.ts'

/** The data and the schema for a group of expressions. */
export interface Fixture {
  readonly schema: CelSchema
  readonly self: unknown
  readonly oldSelf?: unknown
  readonly isResourceRoot?: boolean
  /** Whether the rule refers to an old value that is absent, so that it must not be evaluated. */
  readonly isSkipped?: boolean
  /** The expected cost of evaluating each expression. */
  readonly cost?: number
}

const integer: CelSchema = { type: 'integer' }
const number: CelSchema = { type: 'number' }
const string: CelSchema = { type: 'string' }
const boolean: CelSchema = { type: 'boolean' }
const bytes: CelSchema = { type: 'string', format: 'byte' }
const duration: CelSchema = { type: 'string', format: 'duration' }
const date: CelSchema = { type: 'string', format: 'date' }
const dateTime: CelSchema = { type: 'string', format: 'date-time' }
const intOrString: CelSchema = { 'x-kubernetes-int-or-string': true }
const anything: CelSchema = { 'x-kubernetes-preserve-unknown-fields': true }

const list = (items: CelSchema): CelSchema => ({ type: 'array', 'x-kubernetes-list-type': 'atomic', items })
const set = (items: CelSchema): CelSchema => ({ type: 'array', 'x-kubernetes-list-type': 'set', items })
const map = (additionalProperties: CelSchema): CelSchema => ({ type: 'object', additionalProperties })
const object = (properties: Record<string, CelSchema>): CelSchema => ({ type: 'object', properties })
const nullable = (schema: CelSchema): CelSchema => ({ ...schema, nullable: true })
const mapList = (keys: readonly string[], items: CelSchema): CelSchema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  items,
})

/** Returns an object schema with the properties `val1`, `val2`, ... */
function numbered(...pairs: readonly (readonly [CelSchema, unknown])[]): Fixture {
  return {
    schema: object(Object.fromEntries(pairs.map(([schema], i) => [`val${i + 1}`, schema]))),
    self: Object.fromEntries(pairs.map(([, value], i) => [`val${i + 1}`, value])),
  }
}

const twice = (schema: CelSchema, value: unknown): Fixture => numbered([schema, value], [schema, value])
const names = object({ name: string, generateName: string })
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'foo', generateName: 'pickItForMe', namespace: 'xyz' },
}
const podWithSpec = { ...pod, spec: { field1: 'a' } }
const embedded = (more: CelSchema): CelSchema =>
  object({ embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, ...more } })
const quantities = numbered([string, '20'], [string, '200M'])
const openObject = (properties?: Record<string, CelSchema>): CelSchema => ({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  ...(properties === undefined ? {} : { properties }),
})

const KEYWORDS =
  'true false null in as break const continue else for function if import let loop package namespace return var void while'
const TYPES = 'int uint double bool string bytes list map null_type type'
const oddNames: Record<string, number> = {
  ...Object.fromEntries(KEYWORDS.split(' ').map((word, i) => [word, i + 1])),
  ...Object.fromEntries(TYPES.split(' ').map((word, i) => [word, i + 101])),
  self: 201,
  getDate: 202,
  all: 203,
  _true: 301,
  'dot.dot': 401,
  'dash-dash': 402,
  'slash/slash': 403,
  underscore_underscore: 404,
  doubleunderscore__doubleunderscore: 405,
}

const seriesOf = (
  name: string,
  schema: CelSchema,
  values: readonly unknown[],
  unsorted: string,
  empty: string,
): Fixture => ({
  schema: object({ [name]: list(schema), [unsorted]: list(schema), [empty]: list(schema) }),
  self: { [name]: values, [unsorted]: [values[1], values[0]], [empty]: [] },
})

function merged(...fixtures: readonly Fixture[]): Fixture {
  return {
    schema: object(Object.assign({}, ...fixtures.map((f) => f.schema.properties))),
    self: Object.assign({}, ...fixtures.map((f) => f.self)),
  }
}

const keyed = (k: string, v: string): Record<string, string> => ({ k, v })

/** Fixtures by group name. */
export const CORPUS_FIXTURES: Readonly<Record<string, Fixture>> = {
  integers: numbered(
    [integer, 2n ** 63n - 1n],
    [integer, 2n ** 63n - 1n],
    [integer, 2147483647],
    [integer, 2147483647],
    [integer, 2n ** 63n - 1n],
    [integer, 2n ** 63n - 1n],
  ),
  numbers: numbered(
    [number, Number.MAX_VALUE],
    [number, Number.MAX_VALUE],
    [number, Math.fround(3.4028234663852886e38)],
    [number, Math.fround(3.4028234663852886e38)],
    [number, Number.MAX_VALUE],
    [number, Number.MAX_VALUE],
    [number, 1],
  ),
  'numeric comparisons': numbered(
    [integer, 5],
    [integer, 10],
    [integer, 15],
    [number, 10],
    [number, 10],
    [number, 10],
    [number, 10],
    [number, 10],
    [number, 10],
  ),
  'unicode strings': twice(string, 'Rook takes 👑'),
  'escaped strings': twice(string, 'l1\nl2'),
  bytes: twice(bytes, 'QUI='),
  booleans: numbered([boolean, true], [boolean, true], [boolean, false], [boolean, false]),
  'duration format': twice(duration, '1h2m3s4ms'),
  'date format': twice(date, '1997-07-16'),
  'date-time format': twice(dateTime, '2011-08-18T19:03:37.010000000+01:00'),
  enums: {
    schema: object({ enumStr: { type: 'string', enum: ['Pending', 'Available', 'Bound', 'Released', 'Failed'] } }),
    self: { enumStr: 'Pending' },
  },
  conversions: numbered(
    [integer, 10],
    [number, 10],
    [number, 10.49],
    [number, 10.5],
    [boolean, true],
    [string, '10'],
    [bytes, 'MTA='],
    [string, '3723.004s'],
    [duration, '1h2m3s4ms'],
    [string, '2011-08-18T19:03:37.01+01:00'],
    [dateTime, '2011-08-18T19:03:37.01+01:00'],
    [string, '2011-08-18T00:00:00Z'],
    [date, '2011-08-18'],
  ),
  lists: twice(list(integer), [1, 2, 3]),
  'ext lists version 3': twice(list(integer), [1, 2, 3]),
  'string lists': numbered([list(string), ['a', 'b', 'c']]),
  listSets: numbered([set(string), ['a', 'b', 'c']], [set(string), ['a', 'c', 'b']]),
  listMaps: {
    schema: object({ objs: list(mapList(['k'], object({ k: string, v: string }))) }),
    self: {
      objs: [
        [keyed('a', '1'), keyed('b', '2')],
        [keyed('b', '2'), keyed('a', '1')],
        [keyed('b', '3'), keyed('a', '1')],
        [keyed('c', '4')],
      ],
    },
  },
  maps: numbered([map(string), { k1: 'a', k2: 'b' }], [map(string), { k2: 'b', k1: 'a' }]),
  objects: {
    schema: object({ objs: list(object({ f1: string, f2: string })) }),
    self: {
      objs: [
        { f1: 'a', f2: 'b' },
        { f1: 'a', f2: 'b' },
      ],
    },
  },
  'object access': {
    schema: object({
      a: object({ b: integer, c: integer, d: nullable(integer) }),
      a1: object({ b1: object({ c1: integer }), d2: object({ e2: integer }) }),
    }),
    self: { a: { b: 1, d: null }, a1: { b1: { c1: 4 } }, a3: {} },
  },
  'map access': { schema: object({ val: map(integer) }), self: { val: { b: 1, d: 2 } } },
  'listMap access': {
    schema: object({ listMap: mapList(['k'], object({ k: string, v: string, v2: string })) }),
    self: { listMap: [keyed('a1', 'b1'), keyed('a2', 'b2'), { ...keyed('a3', 'b3'), v2: 'z' }] },
  },
  'list access': { schema: object({ array: list(integer) }), self: { array: [1, 1, 2, 2, 3, 3, 4, 5] } },
  'listSet access': { schema: object({ set: list(integer) }), self: { set: [1, 2, 3, 4, 5] } },
  'typemeta and objectmeta access specified': {
    schema: object({ kind: string, apiVersion: string, metadata: names }),
    self: pod,
  },
  'typemeta and objectmeta access not specified': {
    schema: object({ spec: object({ field1: string }) }),
    self: podWithSpec,
    isResourceRoot: true,
  },
  'embedded object': { schema: embedded({}), self: { embedded: podWithSpec } },
  'embedded object with properties': {
    schema: embedded({
      properties: { kind: string, apiVersion: string, metadata: names, spec: object({ field1: string }) },
    }),
    self: { embedded: podWithSpec },
  },
  'embedded object with usage of reserved keywords': {
    schema: embedded({
      properties: {
        kind: string,
        apiVersion: string,
        metadata: object({ name: string, generateName: string, namespace: string }),
        spec: object({ if: string }),
      },
    }),
    self: {
      embedded: {
        ...pod,
        metadata: { ...pod.metadata, namespace: 'reserved_keyword_namespace' },
        spec: { if: 'reserved_keyword_if' },
      },
    },
  },
  'embedded object with preserve unknown': {
    schema: embedded({ 'x-kubernetes-preserve-unknown-fields': true }),
    self: { embedded: podWithSpec },
  },
  'string in intOrString': { schema: object({ something: intOrString }), self: { something: '25%' } },
  'int in intOrString': { schema: object({ something: intOrString }), self: { something: 1 } },
  'null in intOrString': { schema: object({ something: nullable(intOrString) }), self: { something: null } },
  'percent comparison using intOrString': {
    schema: object({ min: intOrString, current: integer, available: integer }),
    self: { min: '50%', current: 5, available: 10 },
  },
  'preserve unknown fields': {
    schema: object({
      withUnknown: openObject(),
      withUnknownList: list(openObject()),
      withUnknownFieldList: list(object({ fieldOfUnknownType: anything })),
      anyvalList: list(anything),
      anyvalMap: map(anything),
      anyvalField1: anything,
      anyvalField2: anything,
    }),
    self: {
      withUnknown: { field1: 'a', field2: 'b' },
      withUnknownList: [
        { field1: 'a', field2: 'b' },
        { field1: 'x', field2: 'y' },
        { field1: 'x', field2: 'y' },
        {},
        {},
      ],
      withUnknownFieldList: [{ fieldOfUnknownType: 'a' }, { fieldOfUnknownType: 1 }, { fieldOfUnknownType: 1 }],
      anyvalList: ['a', 2],
      anyvalMap: { k: '1' },
      anyvalField1: 1,
      anyvalField2: 'a',
    },
  },
  'known and unknown fields': {
    schema: object({
      withUnknown: openObject({ known: integer }),
      withUnknownList: list(openObject({ known: integer })),
    }),
    self: {
      withUnknown: { known: 1, unknown: 'a' },
      withUnknownList: [
        { known: 1, unknown: 'a' },
        { known: 1, unknown: 'b' },
        { known: 1, unknown: 'b' },
        { known: 1 },
        { known: 1 },
        { known: 2 },
      ],
    },
  },
  'field nullability': {
    schema: object({
      unsetPlainStr: string,
      unsetDefaultedStr: { ...string, default: 'default value' },
      unsetNullableStr: nullable(string),
      setPlainStr: string,
      setDefaultedStr: { ...string, default: 'default value' },
      setNullableStr: nullable(string),
      setToNullNullableStr: nullable(string),
    }),
    self: {
      setPlainStr: 'v1',
      setDefaultedStr: 'v2',
      setNullableStr: 'v3',
      setToNullNullableStr: null,
      unsetDefaultedStr: 'default value',
    },
  },
  'null values in container types': {
    schema: object({ m: map(nullable(string)), l: list(nullable(string)), s: set(nullable(string)) }),
    self: { m: { a: null, b: 'not-nil' }, l: [null, 'not-nil'], s: [null, 'not-nil'] },
  },
  escaping: {
    schema: object({ ...Object.fromEntries(Object.keys(oddNames).map((name) => [name, integer])), size: string }),
    self: { ...oddNames, size: '204' },
  },
  'map keys are not escaped': {
    schema: object({ m: map(integer) }),
    self: { m: { '@': 1, '9': 2, int: 3, './-': 4, '👑': 5 } },
  },
  'object types are not accessible': {
    schema: object({
      nestedInMap: map(object({ inMapField: integer })),
      nestedInList: list(object({ inListField: integer })),
    }),
    self: {
      nestedInMap: { k1: { inMapField: 1 }, k2: { inMapField: 2 } },
      nestedInList: [{ inListField: 1 }, { inListField: 2 }],
    },
  },
  'listMaps with unsupported identity characters in property names': {
    schema: object({ objs: list(mapList(['k!', 'k.'], object({ 'k!': string, 'k.': string }))) }),
    self: {
      objs: [
        [
          { 'k!': 'a', 'k.': '1' },
          { 'k!': 'b', 'k.': '2' },
        ],
        [
          { 'k!': 'b', 'k.': '2' },
          { 'k!': 'a', 'k.': '1' },
        ],
        [
          { 'k!': 'b', 'k.': '2' },
          { 'k!': 'c', 'k.': '1' },
        ],
        [
          { 'k!': 'b', 'k.': '2' },
          { 'k!': 'a', 'k.': '3' },
        ],
      ],
    },
  },
  'container type composition': {
    schema: object({
      obj: object({ field: string }),
      mapOfMap: map(map(string)),
      mapOfObj: map(object({ field2: string })),
      mapOfListMap: map(mapList(['k'], object({ k: string, v: string }))),
      mapOfList: map(list(string)),
      listMapOfObj: mapList(['k2'], object({ k2: string, v2: string })),
      listOfMap: list(map(string)),
      listOfObj: list(object({ field3: string })),
      listOfListMap: list(mapList(['k3'], object({ k3: string, v3: string }))),
    }),
    self: {
      obj: { field: 'a' },
      mapOfMap: { x: { y: 'b' } },
      mapOfObj: { k: { field2: 'c' } },
      mapOfListMap: { o: [keyed('1', 'd')] },
      mapOfList: { l: ['e'] },
      listMapOfObj: [{ k2: '2', v2: 'f' }],
      listOfMap: [{ z: 'g' }],
      listOfObj: [{ field3: 'h' }],
      listOfListMap: [[{ k3: '3', v3: 'i' }]],
    },
  },
  'invalid data': {
    schema: object({
      o: object({ field: string }),
      m: map(string),
      l: list(string),
      s: set(string),
      lm: mapList(['k'], object({ k: string, v: string })),
      intorstring: intOrString,
      nullable: list(string),
    }),
    self: { o: [], m: [], l: {}, s: {}, lm: {}, intorstring: true, nullable: [null] },
  },
  'stdlib list functions': merged(
    seriesOf('ints', integer, [1, 2, 2, 3], 'unsortedInts', 'emptyInts'),
    seriesOf('doubles', number, [1, 2, 2, 3], 'unsortedDoubles', 'emptyDoubles'),
    seriesOf('intBackedDoubles', number, [1, 2, 2, 3], 'unsortedIntBackedDDoubles', 'emptyIntBackedDDoubles'),
    seriesOf('durations', duration, ['1s', '1m', '1m', '1h'], 'unsortedDurations', 'emptyDurations'),
    seriesOf('strings', string, ['a', 'b', 'b', 'c'], 'unsortedStrings', 'emptyStrings'),
    seriesOf('dates', date, ['2000-01-01', '2000-02-01', '2000-02-01', '2010-01-01'], 'unsortedDates', 'emptyDates'),
    {
      schema: object({ objs: list(object({ f1: string, f2: string })) }),
      self: { objs: ['a', 'b', 'b', 'c'].map((f2) => ({ f1: 'a', f2 })) },
    },
  ),
  'stdlib regex functions': { schema: object({ str: string }), self: { str: 'this is a 123 string 456' } },
  'URL parsing': {
    schema: object({ url: string }),
    self: { url: 'https://user:pass@kubernetes.io:80/docs/home?k1=a&k2=b&k2=c#anchor' },
  },
  'transition rules': { schema: object({ v: string }), self: { v: 'new' }, oldSelf: { v: 'old' } },
  'skipped transition rule for nil old primitive': { schema: string, self: 'exists', isSkipped: true },
  'skipped transition rule for nil old array': { schema: list(string), self: [], isSkipped: true },
  'skipped transition rule for nil old object': {
    schema: object({ f: string }),
    self: { f: 'exists' },
    isSkipped: true,
  },
  'skipped transition rule for old with non-nil interface but nil value': {
    schema: list(string),
    self: [],
    isSkipped: true,
  },
  'authorizer is not supported for CRD Validation Rules': { schema: object({}), self: {}, oldSelf: {} },
  optionals: {
    schema: object({
      presentObj: object({ presentStr: string }),
      absentObj: object({ absentStr: string }),
      m: map(string),
      l: list(string),
    }),
    self: { presentObj: { presentStr: 'value' }, m: { k: 'v' }, l: ['a'] },
  },
  quantity: quantities,
  'cost for extended lib calculated correctly: isSorted': { ...quantities, cost: 4 },
  'cost for extended lib calculated correctly: url': { ...quantities, cost: 4 },
  'cost for extended lib calculated correctly: split': { ...quantities, cost: 5 },
  'cost for extended lib calculated correctly: join': { ...quantities, cost: 7 },
  'IP and CIDR': quantities,
  format: quantities,
}
