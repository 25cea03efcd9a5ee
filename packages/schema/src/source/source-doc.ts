/** A piece of source text that breaks into lines if it is too wide. */
export type SourceDoc = string | BracketDoc | WordsDoc | ChainDoc | CommentDoc | readonly SourceDoc[]

/** A bracketed list: `open a, b close` on one line, or one item per line. */
export interface BracketDoc {
  readonly open: string
  readonly close: string
  readonly items: readonly SourceDoc[]
  /** Breaks the list even if it fits. */
  readonly broken?: boolean | undefined
  /** Whether the brackets have inner spaces on one line: objects have, calls have not. */
  readonly padded?: boolean | undefined
  /** The separator of items: a comma in values, a semicolon (or only a line break) in types. */
  readonly separator?: ',' | ';' | undefined
}

/** Method calls on a head. If they do not fit on one line, each call gets a line, like in code formatters. */
export interface ChainDoc {
  readonly head: string
  readonly calls: readonly SourceDoc[]
}

/** A string literal for prose, which breaks between words. */
export interface WordsDoc {
  readonly words: string
}

/** A doc comment on lines of its own before the following document. */
export interface CommentDoc {
  readonly comment: string
}

/**
 * Formats a document in `width` columns. `indent` is the indentation of the line on which it starts, `column` the
 * column.
 */
export function renderSource(doc: SourceDoc, width: number, indent = 0, column: number = indent): string {
  if (typeof doc === 'string') return doc
  if ('words' in doc) return renderWords(doc.words, width, indent, column)
  if ('items' in doc) return renderBracket(doc, width, indent, column)
  if ('calls' in doc) return renderChain(doc, width, indent, column)
  if ('comment' in doc) return renderComment(doc.comment, width, indent)
  return renderParts(doc, width, indent, column)
}

function renderChain(doc: ChainDoc, width: number, indent: number, column: number): string {
  const flat = flatText(doc)
  if (flat !== undefined && column + flat.length < width) return flat
  // A chain of two calls starts on the line of its head, unless the first call fits on a line of its own but not on that
  // line. A last call without arguments cannot be broken, so it must fit on the line of the head as well.
  const first = flatText(doc.calls[0] ?? '')?.length ?? width
  const last = flatText(doc.calls.at(-1) ?? '')
  const tail = last?.endsWith('()') ? last.length : 0
  const spared = column + doc.head.length + first + tail >= width && indent + 2 + first < width
  const hugs = doc.calls.length < 2 || (doc.calls.length === 2 && !spared)
  if (hugs) return renderParts([doc.head, ...doc.calls], width, indent, column)
  const inner = ' '.repeat(indent + 2)
  return doc.head + doc.calls.map((call) => `\n${inner}${renderSource(call, width, indent + 2)}`).join('')
}

function renderParts(parts: readonly SourceDoc[], width: number, indent: number, column: number): string {
  let text = ''
  for (const part of parts) {
    const lastLine = text.slice(text.lastIndexOf('\n') + 1)
    text += renderSource(part, width, indent, text.includes('\n') ? lastLine.length : column + text.length)
  }
  return text
}

function renderBracket(doc: BracketDoc, width: number, indent: number, column: number): string {
  const separator = doc.separator ?? ','
  const flat = flatText(doc)
  // One column is left for the comma that usually follows.
  if (flat !== undefined && column + flat.length < width) return flat
  const only = doc.items.length === 1 ? doc.items[0] : undefined
  if (doc.open === '(' && typeof only === 'object' && 'items' in only && only.open !== '(') {
    return `(${renderBracket(only, width, indent, column + 1)})`
  }
  if (doc.items.length === 0) return doc.open + doc.close
  const inner = ' '.repeat(indent + 2)
  const lines = doc.items.map(
    (item) => `${inner}${renderSource(item, width, indent + 2)}${separator === ',' ? ',' : ''}\n`,
  )
  return `${doc.open}\n${lines.join('')}${' '.repeat(indent)}${doc.close}`
}

/** Returns the document on one line, or `undefined` if a part of it requires several. */
function flatText(doc: SourceDoc): string | undefined {
  if (typeof doc === 'string') return doc
  if ('words' in doc) return stringLiteral(doc.words)
  if ('comment' in doc) return undefined
  if ('items' in doc) {
    if (doc.broken) return undefined
    const items = flatParts(doc.items)
    if (items === undefined) return undefined
    const blank = doc.padded && items.length > 0 ? ' ' : ''
    return doc.open + blank + items.join(`${doc.separator ?? ','} `) + blank + doc.close
  }
  return flatParts('calls' in doc ? [doc.head, ...doc.calls] : doc)?.join('')
}

function flatParts(docs: readonly SourceDoc[]): string[] | undefined {
  const parts: string[] = []
  for (const doc of docs) {
    const part = flatText(doc)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return parts
}

function renderWords(text: string, width: number, indent: number, column: number): string {
  const unbroken = stringLiteral(text)
  if (column + unbroken.length < width) return unbroken
  const room = Math.max(width - indent - 6, 40)
  const lines: string[] = []
  let line = ''
  for (const word of text.match(/[^\s]*\s*/g) ?? []) {
    if (line !== '' && (line.endsWith('\n') || stringLiteral(line + word.trimEnd()).length > room)) {
      lines.push(line)
      line = ''
    }
    line += word
  }
  lines.push(line)
  const parts = lines.filter((each) => each !== '')
  return parts.map(stringLiteral).join(` +\n${' '.repeat(indent + 2)}`)
}

function renderComment(text: string, width: number, indent: number): string {
  const margin = ' '.repeat(indent)
  return `${docComment(text, width - indent).join(`\n${margin}`)}\n${margin}`
}

/** Returns the lines of a doc comment, broken between words. */
export function docComment(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.replaceAll('*/', '*\u200b/').split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length + 4 <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  const [only = '', ...more] = lines
  if (more.length === 0 && only.length + 7 <= width) return [`/** ${only} */`]
  return ['/**', ...lines.map((line) => ` * ${line}`), ' */']
}

/** Formats a string literal with single quotes, or with double quotes if that saves escapes. */
export function stringLiteral(text: string): string {
  const double = JSON.stringify(text)
  if (text.includes("'") && !text.includes('"')) return double
  return `'${double.slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Formats a property name of an object literal or a type. `__proto__` needs brackets to be an ordinary property. */
export function propertyName(name: string): string {
  if (name === '__proto__') return "['__proto__']"
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : stringLiteral(name)
}

/** Formats JSON data as an expression. */
export function valueDoc(value: unknown): SourceDoc {
  if (typeof value === 'string') return stringLiteral(value)
  if (typeof value === 'bigint') return `${value}n`
  if (Object.is(value, -0)) return '-0'
  if (Array.isArray(value)) return { open: '[', close: ']', items: value.map(valueDoc) }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    const items = members.map(([name, member]): SourceDoc => [`${propertyName(name)}: `, valueDoc(member)])
    return { open: '{', close: '}', padded: true, items }
  }
  return String(value)
}
