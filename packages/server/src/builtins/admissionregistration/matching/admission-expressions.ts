import {
  AUTHORIZER_TYPE,
  CelCompileError,
  CelEnvironment,
  CelPlanError,
  type CelSchema,
  type CelType,
  type DeclaredType,
  DYN,
  declareSchema,
  fromNative,
  kubernetesLibraries,
  RESOURCE_CHECK_TYPE,
  sameType,
  structType,
  type VariableDeclaration,
} from '@kubewright/cel'
import { type FieldError, type FieldPath, internalError, invalid } from '@kubewright/schema'

// The environments of expressions in webhooks and admission policies (apiserver/pkg/admission/plugin/cel/compile.go).

/** Which variables an expression may use besides object, oldObject, request and namespaceObject. */
export interface AdmissionVariables {
  readonly params: boolean
  readonly authorizer: boolean
  /** The policy's own variables, by name; undefined when it has none. */
  readonly variables?: ReadonlyMap<string, CelType> | undefined
}

const text: CelSchema = { type: 'string' }
const texts: CelSchema = { type: 'array', items: text }
const time: CelSchema = { type: 'string', format: 'date-time' }
const integer: CelSchema = { type: 'integer' }
const object = (properties: Record<string, CelSchema>): CelSchema => ({ type: 'object', properties })
const map = (values: CelSchema): CelSchema => ({ type: 'object', additionalProperties: values })

const kindSchema = object({ group: text, version: text, kind: text })
const resourceSchema = object({ group: text, version: text, resource: text })
const requestSchema = object({
  kind: kindSchema,
  resource: resourceSchema,
  subResource: text,
  requestKind: kindSchema,
  requestResource: resourceSchema,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo: object({ username: text, uid: text, groups: texts, extra: map(texts) }),
  dryRun: { type: 'boolean' },
})
const namespaceSchema = object({
  metadata: object({
    name: text,
    generateName: text,
    namespace: text,
    labels: map(text),
    annotations: map(text),
    UID: text,
    creationTimestamp: time,
    deletionGracePeriodSeconds: integer,
    deletionTimestamp: time,
    generation: integer,
    resourceVersion: text,
    finalizers: texts,
  }),
  spec: object({ finalizers: texts }),
  status: object({
    conditions: {
      type: 'array',
      items: object({ status: text, type: text, lastTransitionTime: time, message: text, reason: text }),
    },
    phase: text,
  }),
})

let shared: CelEnvironment | undefined
const environments = new Map<string, CelEnvironment>()

/** The environment for the variables; made once for each combination, and for each policy that has variables of its own. */
export function admissionEnvironment({ params, authorizer, variables }: AdmissionVariables): CelEnvironment {
  const key = `${params} ${authorizer}`
  let environment = environments.get(key)
  if (!environment) {
    shared ??= CelEnvironment.create({ libraries: kubernetesLibraries }).extend({ variables: commonVariables() })
    environment = shared.extend({
      variables: {
        ...(params ? { params: DYN } : {}),
        ...(authorizer ? { authorizer: AUTHORIZER_TYPE, 'authorizer.requestResource': RESOURCE_CHECK_TYPE } : {}),
      },
    })
    environments.set(key, environment)
  }
  return variables ? withPolicyVariables(environment, variables) : environment
}

/** The environment with the variables of a policy, by name. */
export function withPolicyVariables(
  environment: CelEnvironment,
  variables: ReadonlyMap<string, CelType>,
): CelEnvironment {
  // Not data with a schema, where null would be the same as absent: a variable may be null.
  const type = structType('kubernetes.variables')
  const declaration = { type, identifier: false, fields: Object.fromEntries(variables) } as const
  return environment.extend({
    libraries: [{ name: 'kubernetes.variables', types: [declaration] }],
    variables: { variables: type },
  })
}

function commonVariables(): Record<string, VariableDeclaration> {
  const request = declareSchema(requestSchema, { name: 'kubernetes.AdmissionRequest' })!
  const namespaceObject = declareSchema(namespaceSchema, { name: 'kubernetes.Namespace' })!
  // Options may be of several kinds, which no schema says.
  const fields = new Map([...request.fields!, ['options', { jsonName: 'options', type: declared(DYN) }] as const])
  return {
    object: DYN,
    oldObject: DYN,
    request: { ...request, fields },
    // Requests about objects of the cluster have none.
    namespaceObject: { ...namespaceObject, read: (json) => (json === null ? null : namespaceObject.read(json)) },
  }
}

function declared(type: CelType): DeclaredType {
  return { type, schema: {}, maxElements: 0, minSerializedSize: 0, read: fromNative }
}

/**
 * Adds what is wrong with an expression: it must compile and give one of the types, or any when there are none. Returns the type that
 * it gives, if it is good. `shown` is the text that errors print.
 */
export function checkExpression(
  errors: FieldError[],
  path: FieldPath,
  expression: string,
  environment: CelEnvironment,
  wanted: readonly CelType[],
  shown: string = expression,
): CelType | undefined {
  let given: CelType
  try {
    given = environment.compile(expression).outputType
  } catch (error) {
    if (error instanceof CelCompileError) errors.push(invalid(path, shown, `compilation failed: ${error.message}`))
    else if (error instanceof CelPlanError) {
      errors.push(internalError(path, `program instantiation failed: ${error.message}`))
    } else throw error
    return undefined
  }
  if (wanted.length === 0 || wanted.some((type) => sameType(type, given))) return given
  const list = wanted.length === 1 ? nameOf(wanted[0]!) : `one of [${wanted.map(nameOf).join(' ')}]`
  errors.push(invalid(path, shown, `must evaluate to ${list} but got ${nameOf(given)}`))
  return undefined
}

/** A type as cel-go names it outside of its checker, which calls the type of null differently. */
function nameOf(type: CelType): string {
  return String(type).replace(/\bnull\b/g, 'null_type')
}
