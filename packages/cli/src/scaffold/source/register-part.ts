import { findCalls, indentOf, readLiteral, readSource } from './object-literal.ts'

/** The properties of `defineOperator` that list the parts of an operator. */
export type PartList = 'kinds' | 'controllers' | 'webhooks' | 'conversions'

/** A part of an operator to register. */
export interface Registration {
  readonly list: PartList
  /** The exported name. */
  readonly name: string
  /** Its local name, if the exported name is taken. */
  readonly alias?: string | undefined
  /** The specifier of the module that exports it. */
  readonly from: string
}

const order: readonly PartList[] = ['kinds', 'controllers', 'webhooks', 'conversions']
const lineWidth = 120

/**
 * Adds a part to a list of `defineOperator({ ... })`, imports it, and changes nothing else. Returns the same text if the part is
 * registered; undefined if there is no such call, or if its list is not an array literal.
 */
export function registerPart(text: string, part: Registration): string | undefined {
  const source = readSource(text)
  if (!source) return undefined
  const calls = findCalls(source, 'defineOperator')
  const [operator] = calls
  if (!operator || calls.length !== 1) return undefined
  const element = part.alias ?? part.name
  const list = operator.parts.find(({ key }) => key === part.list)
  if (!list) return withImport(insertList(text, operator, part.list, element), part)
  const array = readLiteral(source, list.valueStart)
  if (!array || text[array.open] !== '[' || array.close + 1 !== list.valueEnd) return undefined
  const has = array.parts.some(({ valueStart, valueEnd }) => {
    const found = text.slice(valueStart, valueEnd)
    return found === element || found.startsWith(`${element}(`)
  })
  if (has) return text
  return withImport(insertElement(text, array, element), part)
}

/** The change to make by hand if {@link registerPart} returns undefined. */
export function registrationHint(part: Registration): string {
  return `${importLine(part)}   and, in defineOperator:   ${part.list}: [..., ${part.alias ?? part.name}]`
}

type Found = NonNullable<ReturnType<typeof readLiteral>>

function insertElement(text: string, array: Found, element: string): string {
  const { open, close, parts } = array
  const last = parts.at(-1)
  if (!last) return `${text.slice(0, open + 1)}${element}${text.slice(close)}`
  const before = text.slice(0, last.valueEnd)
  const isOneLine = !text.slice(open, close).includes('\n')
  if (isOneLine) {
    const lineStart = text.lastIndexOf('\n', open) + 1
    const lineEnd = text.indexOf('\n', close)
    const long = (lineEnd < 0 ? text.length : lineEnd) - lineStart + element.length + 2 > lineWidth
    if (!long) return `${before}, ${element}${text.slice(close)}`
    const indent = ' '.repeat(indentOf(text, open))
    const elements = [...parts.map(({ valueStart, valueEnd }) => text.slice(valueStart, valueEnd)), element]
    const lines = elements.map((one) => `${indent}  ${one},\n`).join('')
    return `${text.slice(0, open + 1)}\n${lines}${indent}${text.slice(close)}`
  }
  const indent = ' '.repeat(indentOf(text, last.valueStart))
  // The rest of the last element's line: its comma, and possibly a comment.
  const rest = text.slice(last.valueEnd, last.end)
  const comma = rest.includes(',') ? rest : `,${rest}`
  return `${before}${comma}\n${indent}${element},${text.slice(last.end)}`
}

function insertList(text: string, operator: Found, list: PartList, element: string): string {
  const earlier = order.slice(0, order.indexOf(list))
  const isEarlier = (key: string | undefined): boolean =>
    key === 'name' || earlier.some((candidate) => candidate === key)
  const before = operator.parts.filter(({ key }) => isEarlier(key)).at(-1)
  const entry = `${list}: [${element}],`
  if (!before) return `${text.slice(0, operator.open + 1)}\n  ${entry}${text.slice(operator.open + 1)}`
  const indent = ' '.repeat(indentOf(text, before.valueStart))
  const rest = text.slice(before.valueEnd, before.end)
  const comma = rest.includes(',') ? rest : `,${rest}`
  return `${text.slice(0, before.valueEnd)}${comma}\n${indent}${entry}${text.slice(before.end)}`
}

function importLine({ name, alias, from }: Registration, quote = "'"): string {
  return `import { ${alias === undefined ? name : `${name} as ${alias}`} } from ${quote}${from}${quote}`
}

function withImport(text: string, part: Registration): string {
  const imports = [...text.matchAll(/^import [^;]*?from (['"])([^'"\n]+)['"];?$/gm)]
  const last = imports.at(-1)
  // With the quotes of the other imports.
  const line = importLine(part, last?.[1])
  if (text.includes(line)) return text
  if (!last) return `${line}\n${text}`
  const semicolon = last[0].endsWith(';') ? ';' : ''
  const next = imports.find((one, index) => one[2]! > part.from && isSorted(imports.slice(index)))
  // Not between a comment and the import that it describes.
  if (next && !/(?:\*\/|\/\/.*)\n$/.test(text.slice(0, next.index)))
    return `${text.slice(0, next.index)}${line}${semicolon}\n${text.slice(next.index)}`
  const end = last.index + last[0].length
  return `${text.slice(0, end)}\n${line}${semicolon}${text.slice(end)}`
}

/** Whether the imports are all relative and sorted, so that another one has a place among them. */
function isSorted(imports: readonly RegExpExecArray[]): boolean {
  return imports.every(([, , from = ''], at) => from.startsWith('.') && (at === 0 || imports[at - 1]![2]! < from))
}
