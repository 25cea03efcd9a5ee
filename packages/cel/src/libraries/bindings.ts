import type { CelLibrary } from '../define/library.ts'
import type { Expr } from '../syntax/ast.ts'
import type { MacroFactory } from '../syntax/macro.ts'

/**
 * The macro `cel.bind(name, value, expression)`, which gives a value a name inside an expression (cel-go/ext/bindings.go). Not part of
 * {@link kubernetesLibraries}: Kubernetes has it only in the selectors of devices.
 */
export const bindingsLibrary: CelLibrary = {
  name: 'cel.lib.ext.cel.bindings',
  macros: [{ fn: 'bind', receiver: true, argCount: 3, expand: expandBind }],
}

function expandBind(factory: MacroFactory, target: Expr | undefined, args: readonly Expr[]): Expr | undefined {
  if (target?.kind !== 'ident' || target.name !== 'cel') return undefined
  const [variable, value, result] = args as readonly [Expr, Expr, Expr]
  if (variable.kind !== 'ident') {
    throw factory.error('cel.bind() variable names must be simple identifiers', variable)
  }
  return factory.comprehension({
    range: factory.list(),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: variable.name,
    accuInit: value,
    condition: factory.literal(false),
    step: factory.ident(variable.name),
    result,
  })
}
