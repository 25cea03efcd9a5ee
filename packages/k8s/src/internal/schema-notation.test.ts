import { describe, expect, test } from 'vitest'
import { parseDefinition, parseShape } from './schema-notation.ts'

describe('parseShape()', () => {
  test.each([
    ['string', { type: 'string' }],
    ['int64=0', { type: 'integer', format: 'int64', default: 0 }],
    ['bytes%atomic', { type: 'string', format: 'byte', listType: 'atomic' }],
    ['string(A|B)="A"', { type: 'string', enum: ['A', 'B'], default: 'A' }],
    ['string(|x_y)', { type: 'string', enum: ['', 'x y'] }],
    ['string="/etc/x"', { type: 'string', default: '/etc/x' }],
    ['PodSpec={}', { ref: 'PodSpec', default: {} }],
    ['$JSON', { ref: 'JSON', bareRef: true }],
    ['meta/v1.Time', { ref: 'meta/v1.Time' }],
    ['core/v1.ObjectReference^granular', { ref: 'core/v1.ObjectReference', mapType: 'granular' }],
    ['[string=""]%set~merge', { items: { type: 'string', default: '' }, listType: 'set', patchStrategy: 'merge' }],
    ['<[string=""]>', { values: { items: { type: 'string', default: '' } } }],
    [
      '[Volume={}]%map(name)~merge,retainKeys(name)',
      {
        items: { ref: 'Volume', default: {} },
        listType: 'map',
        listMapKeys: ['name'],
        patchStrategy: 'merge,retainKeys',
        patchMergeKey: 'name',
      },
    ],
  ])('parses %s', (text, shape) => {
    expect(parseShape(text)).toEqual(shape)
  })

  test.each(['', '[', 'string)', 'string?'])('rejects %j', (text) => {
    expect(() => parseShape(text)).toThrow(SyntaxError)
  })
})

describe('parseDefinition()', () => {
  test('parses required fields, map type, kinds and fields in order', () => {
    const definition = parseDefinition('Home !b,a ^atomic &example.com/v1,v1 b:string a:int32=0')
    expect(definition).toMatchObject({
      name: 'Home',
      required: ['b', 'a'],
      mapType: 'atomic',
      kindOf: ['example.com/v1', 'v1'],
    })
    expect([...definition.fields.keys()]).toEqual(['b', 'a'])
  })

  test('parses a definition without fields', () => {
    expect(parseDefinition('Empty')).toEqual({ name: 'Empty', required: [], fields: new Map() })
  })
})
