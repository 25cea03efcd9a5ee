import { checkFormatCall } from '../libraries/format-call-check.ts'
import { toDuration, toTimestamp } from '../standard/conversions.ts'
import { childrenOf, type Expr } from '../syntax/ast.ts'
import { compileError, type SourceIssue } from '../syntax/source.ts'
import { type CelType, isOptionalType, sameType } from '../values/cel-type.ts'
import { regexOf } from '../values/regex.ts'
import type { CelValue } from '../values/values.ts'
import type { CheckedExpr } from './checker.ts'

const LITERAL_CHECKS: ReadonlyMap<string, (literal: CelValue) => unknown> = new Map<
  string,
  (literal: CelValue) => unknown
>([
  ['duration', toDuration],
  ['timestamp', toTimestamp],
  ['matches', (pattern: CelValue) => (typeof pattern === 'string' ? regexOf(pattern) : undefined)],
])

/** Rejects constant durations, timestamps and patterns that are invalid, and lists and maps of mixed types. */
export function validateLiterals(checked: CheckedExpr): void {
  const issues: SourceIssue[] = []
  const report = (id: number, message: string): void => {
    issues.push({ offset: checked.builder.offsetOf(id), message })
  }
  visit(checked.expr, false, (e, isExempt) => {
    if (e.kind === 'call') {
      checkArgument(e.fn, e.args[0], report)
      const finding = checkFormatCall(e, (node) => checked.types[node.id]!)
      if (finding !== undefined) report(finding.at.id, finding.message)
    }
    if (isExempt) return
    if (e.kind === 'list') {
      const types = e.elements.map((x, i) => elementType(checked.types[x.id]!, e.optional.includes(i)))
      checkSame(types, (i, expected, actual) => report(e.elements[i]!.id, mismatch(expected, actual)))
    } else if (e.kind === 'map') {
      const keys = e.entries.map((entry) => checked.types[entry.key.id]!)
      const values = e.entries.map((entry) => elementType(checked.types[entry.value.id]!, entry.optional))
      checkSame(keys, (i, expected, actual) => report(e.entries[i]!.key.id, mismatch(expected, actual)))
      checkSame(values, (i, expected, actual) => report(e.entries[i]!.value.id, mismatch(expected, actual)))
    }
  })
  if (issues.length > 0) throw compileError(checked.source, issues)
}

function checkArgument(fn: string, arg: Expr | undefined, report: (id: number, message: string) => void): void {
  const check = LITERAL_CHECKS.get(fn)
  if (check === undefined || arg?.kind !== 'literal') return
  try {
    check(arg.value)
  } catch {
    report(arg.id, `invalid ${fn} argument`)
  }
}

function elementType(type: CelType, optional: boolean): CelType {
  return optional && isOptionalType(type) ? type.params[0]! : type
}

/** Reports the first type that differs from the first element. */
function checkSame(
  types: readonly CelType[],
  differ: (index: number, expected: CelType, actual: CelType) => void,
): void {
  for (let i = 1; i < types.length; i++) {
    if (sameType(types[0]!, types[i]!)) continue
    differ(i, types[0]!, types[i]!)
    // Report at most one error per literal.
    break
  }
}

function mismatch(expected: CelType, actual: CelType): string {
  return `expected type '${expected}' but found '${actual}'`
}

/** Visits all nodes. `isExempt` is true inside arguments of `format`, where lists may have mixed types. */
function visit(e: Expr, isExempt: boolean, act: (e: Expr, isExempt: boolean) => void): void {
  act(e, isExempt)
  const exemptsArguments = e.kind === 'call' && e.fn === 'format'
  for (const child of childrenOf(e)) visit(child, isExempt || exemptsArguments, act)
}
