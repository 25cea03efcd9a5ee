import { CelCompileError, type CelEnvironment, type CelExpression, CelPlanError, type CelType } from '@kubewright/cel'
import type { ConfigFields } from './config-fields.ts'

/** A CEL expression of a configuration file, with its text. */
export interface ConfigExpression {
  readonly expression: string
  readonly program: CelExpression
}

/**
 * Compiles an expression of the field `name`. Reports an error and returns undefined if that fails or if `mismatch` returns the problem with the
 * type of the expression.
 */
export function compileConfigExpression(
  fields: ConfigFields,
  name: string,
  expression: string,
  environment: CelEnvironment,
  mismatch: (type: CelType) => string | undefined = () => undefined,
): ConfigExpression | undefined {
  try {
    const program = environment.compile(expression)
    const problem = mismatch(program.outputType)
    if (problem === undefined) return { expression, program }
    fields.invalid(name, expression, problem)
  } catch (error) {
    if (error instanceof CelCompileError) fields.invalid(name, expression, `compilation failed: ${error.message}`)
    else if (error instanceof CelPlanError) {
      fields.report(name, `Internal error: program instantiation failed: ${error.message}`)
    } else throw error
  }
  return undefined
}
