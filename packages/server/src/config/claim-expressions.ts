import {
  ANY,
  BOOL,
  CelCompileError,
  CelEnvironment,
  type CelExpression,
  CelPlanError,
  type CelType,
  kubernetesLibraries,
  listType,
  mapType,
  STRING,
  sameType,
  structType,
} from '@kubewright/cel'
import type { ConfigFields } from './config-fields.ts'

/** A CEL expression of an AuthenticationConfiguration, with its text. */
export interface ClaimExpression {
  readonly expression: string
  readonly program: CelExpression
}

const userFields = {
  username: STRING,
  uid: STRING,
  groups: listType(STRING),
  extra: mapType(STRING, listType(STRING)),
}

let environments: { readonly claims: CelEnvironment; readonly user: CelEnvironment } | undefined

/** One environment has the variable `claims`, the other one the variable `user` (apiserver/pkg/authentication/cel/compile.go). */
function environmentOf(variable: 'claims' | 'user'): CelEnvironment {
  if (!environments) {
    const base = CelEnvironment.create({ libraries: kubernetesLibraries })
    const userType = structType('kubernetes.UserInfo')
    environments = {
      claims: base.extend({ variables: { claims: mapType(STRING, ANY) } }),
      user: base.extend({
        libraries: [
          { name: 'kubernetes.UserInfo', types: [{ type: userType, identifier: false, fields: userFields }] },
        ],
        variables: { user: userType },
      }),
    }
  }
  return environments[variable]
}

/** Compiles an expression that maps claims. Its type is checked when it is evaluated. Reports an error and returns undefined if that fails. */
export function mappingExpression(fields: ConfigFields, name: string, expression: string): ClaimExpression | undefined {
  return compiled(fields, name, expression, 'claims')
}

/** Compiles an expression that validates claims or a user, which must be a bool. Reports an error and returns undefined if that fails. */
export function validationExpression(
  fields: ConfigFields,
  name: string,
  expression: string,
  variable: 'claims' | 'user',
): ClaimExpression | undefined {
  return compiled(fields, name, expression, variable, BOOL)
}

function compiled(
  fields: ConfigFields,
  name: string,
  expression: string,
  variable: 'claims' | 'user',
  wanted?: CelType,
): ClaimExpression | undefined {
  try {
    const program = environmentOf(variable).compile(expression)
    if (wanted === undefined || sameType(program.outputType, wanted)) return { expression, program }
    fields.invalid(name, expression, `must evaluate to ${wanted}`)
  } catch (error) {
    if (error instanceof CelCompileError) fields.invalid(name, expression, `compilation failed: ${error.message}`)
    else if (error instanceof CelPlanError) {
      fields.report(name, `Internal error: program instantiation failed: ${error.message}`)
    } else throw error
  }
  return undefined
}
