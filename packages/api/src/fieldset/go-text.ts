import { compareUtf8, goQuote } from '@kubewright/base'
import { goNumber } from '@kubewright/schema'

const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/**
 * True for the characters that Go's `unicode.IsPrint` accepts: letters, marks, numbers, punctuation, symbols and the
 * space.
 */
export function isPrintable(character: string): boolean {
  return printable.test(character)
}

/** Prints a JSON value as Go's `%#v` prints decoded JSON. */
export function goSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (typeof value === 'object') {
    const entries = Object.entries(value).sort(([a], [b]) => compareUtf8(a, b))
    return `map[string]interface {}{${entries.map(([key, item]) => `${goQuote(key)}:${goSyntax(item)}`).join(', ')}}`
  }
  if (typeof value === 'string') return goQuote(value)
  return typeof value === 'number' ? goNumber(value) : String(value)
}

/** The Go type of a decoded JSON value, as `%T` prints it. */
export function goType(value: unknown): string {
  if (value === null || value === undefined) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'string') return 'string'
  return typeof value === 'number' && !Number.isInteger(value) ? 'float64' : 'int64'
}
