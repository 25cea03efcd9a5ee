import { childrenOf, type Expr, OPERATORS } from './ast.ts'

/** Reports whether the expression contains `operand.field` or `operand.?field` for the identifier `operand`. */
export function hasSelection(expr: Expr, operand: string, field: string): boolean {
  const isOperand = (candidate: Expr | undefined): boolean => candidate?.kind === 'ident' && candidate.name === operand
  const visit = (node: Expr): boolean => {
    if (node.kind === 'select' && node.field === field && isOperand(node.operand)) return true
    if (node.kind === 'call' && node.fn === OPERATORS.optSelect && isOperand(node.args[0])) {
      const [, name] = node.args
      if (name?.kind === 'literal' && name.value === field) return true
    }
    return childrenOf(node).some(visit)
  }
  return visit(expr)
}
