import { codePointLength } from '@kubewright/base'
import { exactly, type SizeEstimate } from '../define/cost-estimate.ts'
import type { Expr } from '../syntax/ast.ts'
import { type CelType, isOptionalType } from '../values/cel-type.ts'
import { CelBytes, CelOptional } from '../values/values.ts'

/** Returns the size of a literal, or undefined if the expression is not one. */
export function literalSize(e: Expr): SizeEstimate | undefined {
  switch (e.kind) {
    case 'literal':
      if (typeof e.value === 'string') return exactly(codePointLength(e.value))
      if (e.value instanceof CelBytes) return exactly(e.value.value.length)
      return e.value instanceof CelOptional ? undefined : exactly(1)
    case 'list':
      return exactly(e.elements.length)
    case 'map':
      return exactly(e.entries.length)
    default:
      return undefined
  }
}

/** Reports whether values of the type count as size 1. */
export function isScalar(t: CelType): boolean {
  switch (t.kind) {
    case 'bool':
    case 'double':
    case 'duration':
    case 'int':
    case 'timestamp':
    case 'uint':
      return true
    default:
      return isOptionalType(t) && isScalar(t.params[0]!)
  }
}
