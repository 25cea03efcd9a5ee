import type { CallExpr, Expr } from '../syntax/ast.ts'
import { CelError } from '../values/cel-error.ts'
import type { CelKind, CelType } from '../values/cel-type.ts'
import { CLAUSE_ERRORS, type FormatClause, interpolate } from './string-format.ts'

/** An error in a format call, and the node it refers to. */
export type FormatFinding = { readonly at: Expr; readonly message: string }

const ACCEPTED_KINDS: Readonly<Record<string, readonly CelKind[]>> = {
  s: ['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
  d: ['int', 'uint'],
  // The strings "NaN", "Infinity" and "-Infinity" are accepted as doubles.
  f: ['double', 'string'],
  e: ['double', 'string'],
  b: ['int', 'uint', 'bool'],
  x: ['int', 'uint', 'string', 'bytes'],
  X: ['int', 'uint', 'string', 'bytes'],
  o: ['int', 'uint'],
}

/**
 * Checks a call `'...'.format([...])` whose format and argument list are literals, as cel-go does at compile time: the
 * syntax of the format, the type of each argument, and their number. Other calls are checked at run time.
 */
export function checkFormatCall(call: CallExpr, typeOf: (e: Expr) => CelType): FormatFinding | undefined {
  const { target, args } = call
  const list = args[0]
  if (call.fn !== 'format' || args.length !== 1 || list?.kind !== 'list') return undefined
  if (target?.kind !== 'literal' || typeof target.value !== 'string') return undefined
  let used = 0
  let at: Expr = call
  try {
    interpolate(target.value, list.elements.length, (index, clause) => {
      used++
      const bad = unprintable(clause, list.elements[index]!, typeOf)
      if (bad === undefined) return ''
      at = bad
      throw new CelError(`${CLAUSE_ERRORS[clause.letter]}${typeOf(bad).name}`)
    })
  } catch (error) {
    return { at, message: (error as CelError).message }
  }
  const count = list.elements.length
  if (count <= used) return undefined
  return { at, message: `too many arguments supplied to string.format (expected ${used}, got ${count})` }
}

/** Returns the argument that the clause cannot print or, for %s, the part of a literal argument. */
function unprintable(clause: FormatClause, arg: Expr, typeOf: (e: Expr) => CelType): Expr | undefined {
  const { kind } = typeOf(arg)
  if (kind !== 'dyn' && !ACCEPTED_KINDS[clause.letter]?.includes(kind)) return arg
  if (clause.letter !== 's') return undefined
  return partsOf(arg)
    .map((part) => unprintable(clause, part, typeOf))
    .find((bad) => bad !== undefined)
}

function partsOf(e: Expr): readonly Expr[] {
  if (e.kind === 'list') return e.elements
  return e.kind === 'map' ? e.entries.flatMap((entry) => [entry.key, entry.value]) : []
}
