// Colours of code blocks. Tokens get classes, whose colours in both themes are in docs/theme/site.css.
import { createHighlighter, type ShikiTransformer, type ThemeRegistrationRaw } from 'shiki'

/** A name in code, and the number of its text. */
export interface Hint {
  readonly start: number
  readonly end: number
  readonly id: number
}

const scopes: Readonly<Record<string, readonly string[]>> = {
  comment: ['comment'],
  string: ['string'],
  keyword: [
    'keyword',
    'storage',
    'entity.name.tag',
    'support.type.property-name',
    'keyword.operator.new',
    'keyword.operator.expression',
  ],
  plain: ['keyword.operator', 'string.unquoted.argument'],
  literal: ['constant', 'variable.language', 'support.constant', 'variable.other.normal.shell'],
  call: ['entity.name.function', 'support.function', 'entity.name.command'],
  type: ['entity.name.type', 'support.type.primitive', 'support.class', 'constant.other.option'],
}
const styles = Object.keys(scopes)
// A theme needs colours: each stands for the class with that number.
const colourOf = (style: number): string => `#${String(style + 1).padStart(6, '0')}`
const theme: ThemeRegistrationRaw = {
  name: 'classes',
  settings: [
    { settings: { foreground: '#000000', background: '#ffffff' } },
    ...styles.map((style, i) => ({ scope: [...scopes[style]!], settings: { foreground: colourOf(i) } })),
  ],
}
const languages = ['ts', 'yaml', 'sh', 'json', 'go', 'python', 'dockerfile']
const highlighter = await createHighlighter({ themes: [theme], langs: languages })

type Element = Parameters<NonNullable<ShikiTransformer['pre']>>[0]
type Child = Element['children'][number]

/** Turns the colour of a token into a class, and removes elements without attributes. */
function tidy(node: Child): Child[] {
  if (node.type !== 'element') return [node]
  const children = node.children.flatMap(tidy)
  const { style, class: _, ...properties } = node.properties
  const number = typeof style === 'string' ? Number(/#(\d+)/.exec(style)?.[1] ?? 0) : 0
  const name = styles[number - 1] ?? 'plain'
  if (name !== 'plain') properties['class'] = `t-${name}`
  return Object.keys(properties).length === 0 ? children : [{ ...node, properties, children }]
}

const classes: ShikiTransformer = {
  pre(node) {
    node.properties = { tabindex: '0' }
    for (const code of node.children) if (code.type === 'element') code.children = code.children.flatMap(tidy)
  },
}

/** A code block as HTML, with a span for each token and hint. Unknown languages stay plain. */
export function highlight(code: string, language: string, hints: readonly Hint[] = []): string {
  return highlighter.codeToHtml(code, {
    lang: languages.includes(language) ? language : 'text',
    theme: 'classes',
    decorations: hints.map(({ start, end, id }) => ({ start, end, properties: { 'data-hint': String(id) } })),
    transformers: [classes],
  })
}
