import { describe, expect, test } from 'vitest'
import { indentLines, wrapWords } from '../terminal/wrap-words.ts'
import { explainField, fieldSchema } from './explain-field.ts'

const ref = (name: string): object => ({ $ref: `#/components/schemas/com.example.v1.${name}` })
const document = {
  components: {
    schemas: {
      'com.example.v1.Widget': {
        type: 'object',
        description: 'Widget is what the factory makes.',
        properties: {
          spec: { description: 'What is wanted.', allOf: [ref('WidgetSpec')], default: {} },
          parts: { type: 'array', items: ref('Widget') },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
        },
        required: ['spec'],
        'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Widget' }],
      },
      'com.example.v1.WidgetSpec': {
        type: 'object',
        description: 'WidgetSpec says how it is.',
        properties: {
          color: { type: 'string', enum: ['', 'red', 'green', 'blue', 'black'], description: 'Which color.' },
          size: ref('Size'),
        },
      },
      'com.example.v1.Size': { type: 'integer' },
    },
  },
}
const widget = { group: 'example.com', version: 'v1', kind: 'Widget' }

// The expected texts are the output of kubectl; test/import/cluster.test.ts compares with kubectl itself.
describe('explainField()', () => {
  test('lists the fields of a kind', () => {
    expect(explainField(document, { ...widget, path: [] })).toBe(
      'GROUP:      example.com\nKIND:       Widget\nVERSION:    v1\n\n' +
        'DESCRIPTION:\n    Widget is what the factory makes.\n    \n' +
        'FIELDS:\n' +
        '  labels\t<map[string]string>\n    <no description>\n\n' +
        '  parts\t<[]Widget>\n    <no description>\n\n' +
        '  spec\t<WidgetSpec> -required-\n    What is wanted.\n\n\n',
    )
  })

  test('follows paths through references and lists, and lists all values of an enum', () => {
    const text = explainField(document, { ...widget, path: ['parts', 'parts', 'spec', 'color'] })
    expect(text).toBe(
      'GROUP:      example.com\nKIND:       Widget\nVERSION:    v1\n\n' +
        'FIELD: color <string>\nENUM:\n    ""\n    red\n    green\n    blue\n    black\n\n' +
        'DESCRIPTION:\n    Which color.\n    \n\n',
    )
  })

  test('shortens enums in lists, and stops at recursive types', () => {
    const text = explainField(document, { ...widget, path: [], recursive: true })
    expect(text).toContain(
      'FIELDS:\n  labels\t<map[string]string>\n  parts\t<[]Widget>\n    labels\t<map[string]string>\n    parts\t<[]Widget>\n    spec\t<WidgetSpec> -required-\n',
    )
    expect(text).toContain('    color\t<string>\n    enum: "", red, green, blue, ....\n    size\t<integer>\n')
  })

  test('throws for unknown fields and kinds', () => {
    expect(() => explainField(document, { ...widget, path: ['spec', 'weight'] })).toThrow(
      'field "weight" does not exist',
    )
    expect(() => explainField(document, { ...widget, kind: 'Gadget', path: [] })).toThrow('does not describe Gadget')
    expect(fieldSchema(document, { ...widget, path: ['spec', 'size'] })).toEqual({ type: 'integer' })
    expect(fieldSchema(document, { ...widget, path: ['size'] })).toBeUndefined()
  })
})

describe('wrapWords()', () => {
  test('breaks between words, keeps line breaks and gives long words a line of their own', () => {
    expect(wrapWords('one two three', 7)).toBe('one two\nthree')
    expect(wrapWords('a\n\nb  c ', 10)).toBe('a\n\nb  c ')
    expect(wrapWords('it is incomprehensible', 6)).toBe('it is\nincomprehensible')
    expect(wrapWords('', 6)).toBe('')
  })
})

describe('indentLines()', () => {
  test('indents every line, including empty ones', () => {
    expect(indentLines('a\n\nb', 2)).toBe('  a\n  \n  b')
  })
})
