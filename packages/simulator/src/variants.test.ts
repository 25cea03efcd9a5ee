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

test('combinedVariant() is undefined when only one part can change', () => {
  const forms = formsOf({ size: 2, color: 'red', paused: false })
  expect(combinedVariant(forms.filter(({ change }) => change?.path[1] !== 'color'))).toBeUndefined()
})
