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
  jsonPatchLibrary,
  kubernetesLibraries,
  objectTypesLibrary,
  RESOURCE_CHECK_TYPE,
  sameType,
  structType,
  type VariableDeclaration,
} from '@kubewright/cel'
import {
  expressionSteps,
  type FieldError,
  type FieldPath,
  internalError,
  invalid,
  spendSteps,
} from '@kubewright/schema'

// The CEL environments of expressions in webhooks and admission policies (apiserver/pkg/admission/plugin/cel/compile.go).

/** The variables of an expression besides object, oldObject, request and namespaceObject. */
export interface AdmissionVariables {
  readonly params: boolean
  readonly authorizer: boolean
  /** Whether expressions may create objects and JSON patches. @default false */
  readonly patchTypes?: boolean | undefined
  /** The types of the policy's own variables, by name; undefined for expressions that cannot use them. */
  readonly variables?: ReadonlyMap<string, CelType> | undefined
}

const text: CelSchema = { type: 'string' }
const texts: CelSchema = { type: 'array', items: text }
const time: CelSchema = { type: 'string', format: 'date-time' }
const integer: CelSchema = { type: 'integer' }
const object = (typeName: string, properties: Record<string, CelSchema>): CelSchema => ({
  type: 'object',
  typeName: `kubernetes.${typeName}`,
  properties,
})
const map = (values: CelSchema): CelSchema => ({ type: 'object', additionalProperties: values })

const kindSchema = object('GroupVersionKind', { group: text, version: text, kind: text })
const resourceSchema = object('GroupVersionResource', { group: text, version: text, resource: text })
const requestSchema = object('AdmissionRequest', {
  kind: kindSchema,
  resource: resourceSchema,
  subResource: text,
  requestKind: kindSchema,
  requestResource: resourceSchema,
  requestSubResource: text,
  name: text,
  namespace: text,
  operation: text,
  userInfo: object('UserInfo', { username: text, uid: text, groups: texts, extra: map(texts) }),
  dryRun: { type: 'boolean' },
})
const namespaceSchema = object('Namespace', {
  metadata: object('NamespaceMetadata', {
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
  spec: object('NamespaceSpec', { finalizers: texts }),
  status: object('NamespaceStatus', {
    conditions: {
      type: 'array',
      items: object('NamespaceCondition', {
        status: text,
        type: text,
        lastTransitionTime: time,
        message: text,
        reason: text,
      }),
    },
    phase: text,
  }),
})

let shared: CelEnvironment | undefined
const environments = new Map<string, CelEnvironment>()

/** The environment with the given variables. Environments are shared, except for those of policies with variables. */
export function admissionEnvironment(given: AdmissionVariables): CelEnvironment {
  const { params, authorizer, patchTypes = false, variables } = given
  const key = `${params} ${authorizer} ${patchTypes}`
  let environment = environments.get(key)
  if (!environment) {
    shared ??= CelEnvironment.create({ libraries: kubernetesLibraries }).extend({ variables: commonVariables() })
    environment = shared.extend({
      libraries: patchTypes ? [jsonPatchLibrary, objectTypesLibrary] : [],
      variables: {
        ...(params ? { params: DYN } : {}),
        ...(authorizer ? { authorizer: AUTHORIZER_TYPE, 'authorizer.requestResource': RESOURCE_CHECK_TYPE } : {}),
      },
    })
    environments.set(key, environment)
  }
  return variables ? withPolicyVariables(environment, variables) : environment
}

/** The results of {@link withPolicyVariables}, by the variables and the environment that they were added to. */
const policyEnvironments = new WeakMap<ReadonlyMap<string, CelType>, Map<CelEnvironment, CelEnvironment>>()

/**
 * Adds the variables of a policy to an environment. Variables that the caller adds to the map later become known too: policies declare one
 * variable after the other, and a copy of the map for each of them would take quadratic time.
 */
export function withPolicyVariables(
  environment: CelEnvironment,
  variables: ReadonlyMap<string, CelType>,
): CelEnvironment {
  let extended = policyEnvironments.get(variables)
  if (!extended) policyEnvironments.set(variables, (extended = new Map()))
  let found = extended.get(environment)
  if (!found) extended.set(environment, (found = extendWith(environment, variables)))
  return found
}

function extendWith(environment: CelEnvironment, variables: ReadonlyMap<string, CelType>): CelEnvironment {
  // A type without a schema, because a variable may be null, which counts as absent in data with a schema.
  const type = structType('kubernetes.variables')
  const fields = new Proxy<Record<string, CelType>>(
    {},
    { get: (_, name) => (typeof name === 'string' ? variables.get(name) : undefined) },
  )
  return environment.extend({
    libraries: [{ name: 'kubernetes.variables', types: [{ type, identifier: false, fields }] }],
    variables: { variables: type },
  })
}

function commonVariables(): Record<string, VariableDeclaration> {
  const request = declareSchema(requestSchema)!
  const namespaceObject = declareSchema(namespaceSchema)!
  // The options have one of several kinds, which a schema cannot express.
  const fields = new Map([...request.fields!, ['options', { jsonName: 'options', type: declared(DYN) }] as const])
  return {
    object: DYN,
    oldObject: DYN,
    request: { ...request, fields },
    // It is null in requests for cluster-scoped objects.
    namespaceObject: { ...namespaceObject, read: (json) => (json === null ? null : namespaceObject.read(json)) },
  }
}

function declared(type: CelType): DeclaredType {
  return { type, schema: {}, maxElements: 0, minSerializedSize: 0, read: fromNative }
}

/**
 * Checks that an expression compiles and that its type is one of `wanted`, or any type if that is empty. Returns the type of a valid
 * expression. Errors show the text `shown`.
 */
export function checkExpression(
  errors: FieldError[],
  path: FieldPath,
  expression: string,
  environment: CelEnvironment,
  wanted: readonly CelType[],
  shown: string = expression,
  mismatch: (given: string) => string = (given) => `must evaluate to ${listOf(wanted)} but got ${given}`,
): CelType | undefined {
  let given: CelType
  spendSteps(expressionSteps(expression))
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
  errors.push(invalid(path, shown, mismatch(nameOf(given))))
  return undefined
}

function listOf(types: readonly CelType[]): string {
  return types.length === 1 ? nameOf(types[0]!) : `one of [${types.map(nameOf).join(' ')}]`
}

const runtimeNames: Readonly<Record<string, string>> = {
  null: 'null_type',
  duration: 'google.protobuf.Duration',
  timestamp: 'google.protobuf.Timestamp',
  any: 'google.protobuf.Any',
}

/** The name of a type in messages of kube-apiserver, which prints the names of values where cel-go's checker prints its own. */
function nameOf(type: CelType): string {
  return String(type).replace(/(?<![\w.])(null|duration|timestamp|any)(?![\w.])/g, (name) => runtimeNames[name]!)
}
