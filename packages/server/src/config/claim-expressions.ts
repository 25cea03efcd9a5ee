import {
  ANY,
  BOOL,
  CelEnvironment,
  kubernetesLibraries,
  listType,
  mapType,
  STRING,
  sameType,
  structType,
} from '@kubewright/cel'
import { type ConfigExpression, compileConfigExpression } from './config-expression.ts'
import type { ConfigFields } from './config-fields.ts'

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
export function mappingExpression(
  fields: ConfigFields,
  name: string,
  expression: string,
): ConfigExpression | undefined {
  return compileConfigExpression(fields, name, expression, environmentOf('claims'))
}

/** Compiles an expression that validates claims or a user, which must be a bool. Reports an error and returns undefined if that fails. */
export function validationExpression(
  fields: ConfigFields,
  name: string,
  expression: string,
  variable: 'claims' | 'user',
): ConfigExpression | undefined {
  return compileConfigExpression(fields, name, expression, environmentOf(variable), (type) =>
    sameType(type, BOOL) ? undefined : `must evaluate to ${BOOL}`,
  )
}
