import { expect, test } from 'vitest'
import { combinedVariant, type Variant, variantsOf } from './variants.ts'

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
    },
  }
  const sample = { spec: { version: 'v1', host: 'example.com', interval: '30s', size: '1Gi' } }
  expect(
    variantsOf({ properties: { spec } } as never, sample)
      .map(({ text }) => text)
      .filter((text) => !text.endsWith('removed')),
  ).toEqual([
    'spec.access = "edit"',
    'spec.limits.most = 2',
    'spec.limits.most = 3',
    'spec.zone = "text"',
    'spec.version = "v12"',
    'spec.host = "xexample.com"',
    'spec.interval = "60s"',
  ])
})

test('combinedVariant() is undefined when only one part can change', () => {
  const forms = formsOf({ size: 2, color: 'red', paused: false })
  expect(combinedVariant(forms.filter(({ change }) => change?.path[1] !== 'color'))).toBeUndefined()
})
