import { expect, test } from 'vitest'
import { combinedVariant, switchedVariants, type Variant, variantsOf } from './variants.ts'

const schema = {
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer', minimum: 0, maximum: 4 },
        color: { type: 'string', enum: ['red', 'green'] },
        paused: { type: 'boolean' },
      },
      required: ['size', 'color', 'paused'],
    },
  },
} as const

const formsOf = (spec: object): Variant[] => [{ text: '', body: { spec } }, ...variantsOf(schema as never, { spec })]

test('combinedVariant() changes each part of the spec once, and leaves out forms that stop the work', () => {
  const forms = formsOf({ size: 2, color: 'red', paused: false })
  const { text, body, parts } = combinedVariant(forms)!
  expect(body).toEqual({ spec: { size: 3, color: 'green', paused: false } })
  expect(text).toBe('spec.size = 3, spec.color = "green"')
  expect(parts?.map((index) => forms[index]?.text)).toEqual(['spec.size = 3', 'spec.color = "green"'])
})

test('variantsOf() changes fields that the sample leaves to their defaults, and texts with a pattern', () => {
  const spec = {
    type: 'object',
    properties: {
      access: { type: 'string', enum: ['view', 'edit'], default: 'view' },
      limits: { type: 'object', default: {}, properties: { most: { type: 'integer', minimum: 1, default: 1 } } },
      zone: { type: 'string', pattern: '^[a-z]+$' },
      version: { type: 'string', pattern: '^v[0-9]+$' },
      host: { type: 'string', format: 'hostname' },
      interval: { type: 'string' },
      size: { type: 'string' },
      release: { type: 'string' },
    },
  }
  const sample = { spec: { version: 'v1', host: 'example.com', interval: '30s', size: '1Gi', release: '8.0' } }
  expect(
    variantsOf({ properties: { spec } } as never, sample)
      .map(({ text }) => text)
      .filter((text) => !text.endsWith('removed')),
  ).toEqual([
    'spec.access = "edit"',
    'spec.limits.most = 2',
    'spec.limits.most = 3',
    'spec.zone = "text"',
    'spec.version = "v2"',
    'spec.host = "xexample.com"',
    'spec.interval = "60s"',
    'spec.size = "2Gi"',
    'spec.release = "8.1"',
  ])
})

test('combinedVariant() is undefined when only one part can change', () => {
  const forms = formsOf({ size: 2, color: 'red', paused: false })
  expect(combinedVariant(forms.filter(({ change }) => change?.path[1] !== 'color'))).toBeUndefined()
})

test('variantsOf() leaves texts that name a given object as they are', () => {
  const text = { type: 'string' }
  const source = { type: 'object', properties: { path: text, config: text } }
  const spec = {
    type: 'object',
    properties: { configs: { type: 'array', items: text }, sources: { type: 'array', items: source } },
  }
  const sample = { spec: { configs: ['one', 'two'], sources: [{ path: '/a', config: 'one' }] } }
  const texts = variantsOf({ properties: { spec } } as never, sample, new Set(['one', 'two'])).map((form) => form.text)
  expect(texts).toContain('spec.configs = ["one"]')
  expect(texts).toContain('spec.sources = [{"path":"/a","config":"one"},{"path":"/a2","config":"one"}]')
  expect(texts.filter((one) => /one2|two2|xone|xtwo/.test(one))).toEqual([])
})

test('variantsOf() only lets volumes grow, and leaves their other parts as they are', () => {
  const text = { type: 'string' }
  const storage = { type: 'object', properties: { size: text, class: text, isShared: { type: 'boolean' } } }
  const number = { type: 'integer', minimum: 1 }
  const spec = { type: 'object', required: ['storageGi', 'storage'], properties: { storageGi: number, storage } }
  const sample = { spec: { storageGi: 5, storage: { size: '10Gi', class: 'fast' } } }
  const forms = variantsOf({ properties: { spec } } as never, sample)
  expect(forms.map((form) => form.text)).toEqual(['spec.storageGi = 6', 'spec.storage.size = "11Gi"'])
  expect(forms.every(({ isGrowth }) => isGrowth)).toBe(true)
})

test('variantsOf() changes names, except those of objects that must exist', () => {
  const text = { type: 'string' }
  const reference = { type: 'object', properties: { name: text } }
  const properties = { bucketName: text, serviceAccountName: text, secretRef: reference, user: reference }
  const spec = { type: 'object', required: Object.keys(properties), properties }
  const sample = {
    spec: { bucketName: 'b', serviceAccountName: 'default', secretRef: { name: 's' }, user: { name: 'u' } },
  }
  const texts = variantsOf({ properties: { spec } } as never, sample).map((form) => form.text)
  expect(texts.filter((one) => !one.endsWith('removed'))).toEqual(['spec.bucketName = "b2"', 'spec.user.name = "u2"'])
})

test('variantsOf() removes one item of a list, and all of them if the list may be empty', () => {
  const list = { type: 'array', items: { type: 'integer' } }
  const properties = { ports: list, hosts: { ...list, minItems: 1 } }
  const sample = { spec: { ports: [80, 443], hosts: [1, 2] } }
  const forms = variantsOf({ properties: { spec: { type: 'object', properties } } } as never, sample)
  const lengths = forms.flatMap(({ change }) =>
    Array.isArray(change?.value) ? [`${change.path[1]} ${change.value.length}`] : [],
  )
  expect(lengths).toEqual(['ports 1', 'ports 0', 'ports 3', 'hosts 1', 'hosts 3'])
})

test('switchedVariants() removes one field and adds the one beside it', () => {
  const properties = { name: { type: 'string' }, least: { type: 'integer' }, most: { type: 'integer' } }
  const schema = { properties: { spec: { type: 'object', properties } } }
  const sample = { spec: { name: 'one', least: 1 } }
  const refused = variantsOf(schema as never, sample).filter(({ text }) => !text.startsWith('spec.name'))
  const forms = switchedVariants({ text: '', body: sample }, refused)
  expect(forms).toEqual([{ text: 'spec.least removed, spec.most = 1', body: { spec: { name: 'one', most: 1 } } }])
})

test('variantsOf() tries the maximum of a number if it is low', () => {
  const properties = {
    low: { type: 'integer', maximum: 9 },
    high: { type: 'integer', maximum: 99 },
    any: { type: 'integer' },
  }
  const sample = { spec: { low: 1, high: 1, any: 1 } }
  const texts = variantsOf({ properties: { spec: { type: 'object', properties } } } as never, sample).map(
    ({ text }) => text,
  )
  expect(texts.filter((text) => !text.endsWith('removed'))).toEqual([
    'spec.low = 2',
    'spec.low = 0',
    'spec.low = 9',
    'spec.high = 2',
    'spec.high = 0',
    'spec.high = 3',
    'spec.any = 2',
    'spec.any = 0',
    'spec.any = 3',
  ])
})
