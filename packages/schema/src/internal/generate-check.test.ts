import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JSONSchemaProps } from '../json-schema.ts'
import { CheckCompiler } from './fast-check.ts'
import { generateCheck } from './generate-check.ts'

const generate = (schema: JSONSchemaProps) => generateCheck(schema, new CheckCompiler('resource'))!
const object = (properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  properties,
  ...more,
})

/** Texts that would run as code if they were written into the source unchanged. */
const hostile = [
  '"];globalThis.hostile=1;//',
  "'];globalThis.hostile=1;//",
  `\`$${'{globalThis.hostile=1}'}\``,
  '\\"];globalThis.hostile=1;//',
  '*/globalThis.hostile=1;/*',
  '\n;globalThis.hostile=1;',
  '\u2028;globalThis.hostile=1;\u2029',
  '\ud800',
  `$${'{globalThis.hostile=1}'}`,
  ']){}}globalThis.hostile=1;function f(',
]

describe('generateCheck()', () => {
  it('runs no code of a schema', () => {
    for (const text of hostile) {
      const map = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [text] }
      const schemas: JSONSchemaProps[] = [
        object({ [text]: { type: 'string', enum: [text] } }, { required: [text] }),
        object({ [text]: { type: 'string', enum: [text] } }, { required: [text], minProperties: 1 }),
        object({ [text]: { type: 'string' } }, { additionalProperties: false }),
      ]
      for (const schema of schemas) {
        const check = generate(schema)
        expect(check({ [text]: text })).toBe(true)
        expect(check({ [text]: 1 })).toBe(false)
      }
      const list = generate({ type: 'array', items: object({ [text]: { type: 'string' } }), ...map })
      expect(list([{ [text]: 'a' }, { [text]: 'b' }])).toBe(true)
      expect(list([{ [text]: 'a' }, { [text]: 'a' }])).toBe(false)
      const misused = { pattern: text, format: text, type: 'string' } as JSONSchemaProps
      generate(object({ a: misused, b: { type: text } }))({ a: 'a', b: 'b' })
    }
    expect(globalThis).not.toHaveProperty('hostile')
  })

  it('leaves keywords of wrong types to the closures', () => {
    const code = '0);globalThis.hostile=1;(0' as unknown as number
    const keywords = [
      'minimum',
      'maximum',
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minProperties',
      'maxProperties',
    ]
    for (const keyword of keywords) {
      for (const type of ['string', 'integer', 'number', 'array', 'object']) {
        const check = generate({ type, properties: { a: {} }, items: {}, [keyword]: code })
        for (const value of ['a', 1, [1], { a: 1 }]) check(value)
      }
    }
    const names = [{ toString: () => '"];globalThis.hostile=1;//' }] as unknown as string[]
    generate({ type: 'object', required: names })({})
    generate({ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': names })([{}, {}])
    expect(globalThis).not.toHaveProperty('hostile')
  })

  it('distinguishes own fields from inherited ones', () => {
    const check = generate(object({ constructor: { type: 'string' } }, { required: ['toString'] }))
    expect(check({})).toBe(false)
    expect(check({ toString: 1 })).toBe(true)
    expect(check({ toString: 1, constructor: 1 })).toBe(false)
    const proto = generate({ type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') })
    expect(proto({})).toBe(true)
    expect(proto(JSON.parse('{"__proto__":1}'))).toBe(false)
  })

  it('checks objects with more properties than it looks up', () => {
    const names = Array.from({ length: 40 }, (_, i) => `field${i}`)
    const check = generate(object(Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))))
    expect(check({})).toBe(true)
    expect(check(Object.fromEntries(names.map((name) => [name, 1])))).toBe(true)
    for (const name of names) expect(check({ [name]: 'a' })).toBe(false)
  })

  it('counts code points', () => {
    const check = generate({ type: 'string', minLength: 2, maxLength: 3 })
    expect(['', '😀', 'ab', '😀😀', '😀😀😀', 'abc', 'abcd', '😀😀😀😀'].map(check)).toEqual([
      false,
      false,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })

  it('leaves bounds with a fraction and large integers to the closures', () => {
    const check = generate({ type: 'integer', minimum: 0.5, maximum: 1e300 })
    expect([0, 1, 2 ** 53, 2n].map(check)).toEqual([false, true, false, false])
    expect(generate({ type: 'number', minimum: 0.5 })(0.7)).toBe(true)
    expect(generate({ type: 'integer', multipleOf: 3 })(9)).toBe(true)
    expect(generate({ type: 'integer', multipleOf: 3 })(10)).toBe(false)
  })

  it('supports cyclic schemas', () => {
    const schema: { -readonly [K in keyof JSONSchemaProps]: JSONSchemaProps[K] } = { type: 'object' }
    schema.properties = { next: schema, name: { type: 'string' } }
    const check = generate(schema)
    expect(check({ next: { next: { next: { name: 'a' } } } })).toBe(true)
    expect(check({ next: { next: { next: { name: 1 } } } })).toBe(false)
  })

  it('supports schemas of any size', () => {
    const wide = object(
      Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`field${i}`, object({ a: { type: 'integer' } })])),
    )
    const check = generate(wide)
    expect(check({ field0: { a: 1 }, field2999: { a: 1 } })).toBe(true)
    expect(check({ field0: { a: 1 }, field2999: { a: 'x' } })).toBe(false)
  })

  it('returns nothing in a process that forbids code generation', () => {
    const schemaModule = fileURLToPath(new URL('../compile-schema.ts', import.meta.url))
    const program = `
      import { compileSchema } from ${JSON.stringify(schemaModule)}
      const schema = compileSchema({ type: 'object', properties: { a: { type: 'integer' } } })
      for (let i = 0; i < 1000; i++) schema.validate({ a: 1 })
      process.stdout.write(JSON.stringify([schema.validate({ a: 1 }).length, schema.validate({ a: 'x' }).length]))`
    const flags = ['--disallow-code-generation-from-strings', '--conditions=kubewright-source', '--import', 'tsx']
    const output = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', program], {
      encoding: 'utf8',
    })
    expect(output).toBe('[0,1]')
  })
})
