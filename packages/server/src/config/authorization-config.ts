import { goQuote, isDNS1123Subdomain, KubewrightError, parseDuration } from '@kubewright/base'
import {
  BOOL,
  CelEnvironment,
  type CelType,
  type CelTypeDeclaration,
  kubernetesLibraries,
  listType,
  mapType,
  STRING,
  sameType,
  structType,
} from '@kubewright/cel'
import { type ConfigExpression, compileConfigExpression } from './config-expression.ts'
import { ConfigFields, ConfigProblems } from './config-fields.ts'

/** The settings of an authorization webhook. */
export interface AuthorizationWebhookConfig {
  /** Milliseconds for one call. */
  readonly timeout: number
  /** How long an allowed request stays allowed, in milliseconds; 0 for not at all. */
  readonly authorizedTtl: number
  /** How long a refused request stays refused, in milliseconds; 0 for not at all. */
  readonly unauthorizedTtl: number
  readonly version: 'v1' | 'v1beta1'
  /** The decision when the webhook fails: none, so that the next authorizer is asked, or a denial. */
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  /** The kubeconfig of the webhook; undefined for the API server itself. */
  readonly kubeConfigFile: string | undefined
  /** A request must match all of them, or the webhook is not called. */
  readonly matchConditions: readonly ConfigExpression[]
}

/** One authorizer of the chain. */
export type AuthorizerConfig =
  | { readonly type: 'AlwaysAllow' | 'AlwaysDeny' | 'Node' | 'RBAC'; readonly name: string }
  | { readonly type: 'Webhook'; readonly name: string; readonly webhook: AuthorizationWebhookConfig }

const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)
const types = ['ABAC', 'AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC', 'Webhook']
const maxConditions = 64
const second = 1000

/**
 * Parses an AuthorizationConfiguration of apiserver.config.k8s.io; the checks are those of
 * apiserver/pkg/apis/apiserver/validation/validation.go and pkg/kubeapiserver/authorizer. `requiredTypes` must be present, because a reload
 * cannot remove them. Throws an Error that names all wrong fields.
 */
export function parseAuthorizationConfig(value: unknown, requiredTypes: readonly string[] = []): AuthorizerConfig[] {
  const problems = new ConfigProblems()
  const fields = new ConfigFields(value, '', problems)
  const [apiVersion, kind] = [fields.string('apiVersion') ?? '', fields.string('kind') ?? '']
  if (!versions.includes(apiVersion) || kind !== 'AuthorizationConfiguration') {
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      `failed to load AuthorizationConfiguration from file: no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`,
    )
  }
  const entries = fields.objects('authorizers')
  if (entries.length === 0) fields.required('authorizers', 'at least one authorization mode must be defined')
  const seen = { types: new Set<string>(), names: new Set<string>() }
  const authorizers = entries.flatMap((entry) => authorizerOf(entry, seen) ?? [])
  fields.done()
  problems.throwAny()
  checkNames(authorizers, requiredTypes)
  return authorizers
}

/** kube-apiserver names the built-in authorizers by their type in lower case. */
function checkNames(authorizers: readonly AuthorizerConfig[], requiredTypes: readonly string[]): void {
  const problems = new ConfigProblems()
  for (const { type, name } of authorizers) {
    const expected = type.toLowerCase()
    if (type !== 'Webhook' && name !== expected) {
      problems.add('', `expected name ${expected} for authorizer ${type} instead of ${name}`)
    }
  }
  const missing = requiredTypes.filter((type) => type !== 'Webhook' && !authorizers.some((one) => one.type === type))
  if (missing.length > 0) problems.add('', `missing required types: [${[...missing].sort().join(' ')}]`)
  problems.throwAny()
}

function authorizerOf(
  fields: ConfigFields,
  seen: { readonly types: Set<string>; readonly names: Set<string> },
): AuthorizerConfig | undefined {
  const [type, name] = [fields.string('type') ?? '', fields.string('name') ?? '']
  const webhook = fields.object('webhook')
  fields.done()
  if (type === '') fields.required('type')
  else if (!types.includes(type)) fields.unsupported('type', type, types)
  else if (seen.types.has(type) && type !== 'Webhook') fields.duplicate('type', type)
  else {
    seen.types.add(type)
    const problems = isDNS1123Subdomain(name)
    if (name === '') fields.required('name')
    else if (seen.names.has(name)) fields.duplicate('name', name)
    else if (problems.length > 0) {
      fields.invalid('name', name, `authorizer name is invalid: ${problems.join(', ')}`)
    }
    seen.names.add(name)
    if (type === 'Webhook') {
      if (webhook) return { type, name, webhook: webhookOf(webhook, fields) }
      fields.required('webhook', 'required when type=Webhook')
      return undefined
    }
    if (webhook) fields.invalid('webhook', 'non-null', 'may only be specified when type=Webhook')
    if (type !== 'ABAC') return { type: type as 'Node', name }
    fields.report('type', 'ABAC is not available in this server: use RBAC or Webhook')
  }
  return undefined
}

/** Reports problems at the path of the authorizer, without `webhook`, as kube-apiserver does. */
function webhookOf(fields: ConfigFields, parent: ConfigFields): AuthorizationWebhookConfig {
  const timeout = durationOf(fields, 'timeout')
  const authorizedTtl = durationOf(fields, 'authorizedTTL') || 300 * second
  const unauthorizedTtl = durationOf(fields, 'unauthorizedTTL') || 30 * second
  const cachesAuthorized = fields.boolean('cacheAuthorizedRequests') ?? true
  const cachesUnauthorized = fields.boolean('cacheUnauthorizedRequests') ?? true
  const version = fields.string('subjectAccessReviewVersion') ?? ''
  const conditionVersion = fields.string('matchConditionSubjectAccessReviewVersion') ?? ''
  const failurePolicy = fields.string('failurePolicy') ?? ''
  const connection = fields.object('connectionInfo')
  const conditions = fields.objects('matchConditions')
  fields.done()
  if (timeout === 0) parent.required('timeout')
  else if (timeout > 30 * second || timeout < 0) {
    parent.invalid('timeout', fields.string('timeout') ?? '', 'must be > 0s and <= 30s')
  }
  if (authorizedTtl < 0) parent.invalid('authorizedTTL', fields.string('authorizedTTL') ?? '', 'must be > 0s')
  if (unauthorizedTtl < 0) parent.invalid('unauthorizedTTL', fields.string('unauthorizedTTL') ?? '', 'must be > 0s')
  if (version === '') parent.required('subjectAccessReviewVersion')
  else if (version !== 'v1' && version !== 'v1beta1') {
    parent.unsupported('subjectAccessReviewVersion', version, ['v1', 'v1beta1'])
  }
  if (conditionVersion === '' && conditions.length > 0) {
    parent.required('matchConditionSubjectAccessReviewVersion', 'required if match conditions are specified')
  } else if (conditionVersion !== '' && conditionVersion !== 'v1') {
    parent.unsupported('matchConditionSubjectAccessReviewVersion', conditionVersion, ['v1'])
  }
  if (failurePolicy === '') parent.required('failurePolicy')
  else if (failurePolicy !== 'NoOpinion' && failurePolicy !== 'Deny') {
    parent.unsupported('failurePolicy', failurePolicy, ['NoOpinion', 'Deny'])
  }
  return {
    timeout,
    authorizedTtl: cachesAuthorized ? authorizedTtl : 0,
    unauthorizedTtl: cachesUnauthorized ? unauthorizedTtl : 0,
    version: version as 'v1',
    failurePolicy: failurePolicy as 'Deny',
    kubeConfigFile: connectionOf(connection, parent),
    matchConditions: conditionsOf(conditions, parent),
  }
}

function durationOf(fields: ConfigFields, name: string): number {
  const text = fields.string(name)
  if (text === undefined) return 0
  try {
    // Nanoseconds.
    return Number(parseDuration(text)) / 1e6
  } catch (error) {
    fields.report(name, (error as Error).message)
    return 0
  }
}

function connectionOf(connection: ConfigFields | undefined, parent: ConfigFields): string | undefined {
  const [type, file] = [connection?.string('type') ?? '', connection?.string('kubeConfigFile')]
  connection?.done()
  const at = 'connectionInfo.kubeConfigFile'
  if (type === '') parent.required('connectionInfo.type')
  else if (type === 'InClusterConfig') {
    if (file !== undefined) parent.invalid(at, file, 'can only be set when type=KubeConfigFile')
    parent.report('connectionInfo.type', 'InClusterConfig is not available in this server: use KubeConfigFile')
  } else if (type !== 'KubeConfigFile') {
    parent.unsupported('connectionInfo.type', type, ['InClusterConfig', 'KubeConfigFile'])
  } else if (!file) parent.required(at)
  else if (!/^(\/|[a-zA-Z]:[\\/])/.test(file)) parent.invalid(at, file, 'must be an absolute path')
  return file
}

function conditionsOf(conditions: readonly ConfigFields[], parent: ConfigFields): ConfigExpression[] {
  if (conditions.length > maxConditions) {
    parent.report('matchConditions', `Too many: ${conditions.length}: must have at most ${maxConditions} items`)
    return []
  }
  const seen = new Set<string>()
  return conditions.flatMap((condition, index) => {
    const expression = condition.string('expression') ?? ''
    condition.done()
    const at = `matchConditions[${index}].expression`
    if (expression.trim() === '') parent.required(at)
    else if (seen.has(expression)) parent.duplicate(at, expression)
    else {
      seen.add(expression)
      const compiled = compileConfigExpression(parent, at, expression, requestEnvironment(), (type) =>
        sameType(type, BOOL) ? undefined : `must evaluate to bool but got ${type}`,
      )
      return compiled ?? []
    }
    return []
  })
}

let environment: CelEnvironment | undefined

/** The environment with the variable `request`: the spec of a SubjectAccessReview (apiserver/pkg/authorization/cel/compile.go). */
function requestEnvironment(): CelEnvironment {
  if (environment) return environment
  const declarations: CelTypeDeclaration[] = []
  const declare = (name: string, fields: Readonly<Record<string, CelType>>): CelType => {
    const type = structType(`kubernetes.${name}`)
    declarations.push({ type, identifier: false, fields })
    return type
  }
  const texts = (...names: string[]): Record<string, CelType> => Object.fromEntries(names.map((name) => [name, STRING]))
  const requirement = declare('SelectorRequirement', { ...texts('key', 'operator'), values: listType(STRING) })
  const selector = { rawSelector: STRING, requirements: listType(requirement) }
  const request = declare('SubjectAccessReviewSpec', {
    resourceAttributes: declare('ResourceAttributes', {
      ...texts('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
      fieldSelector: declare('FieldSelectorAttributes', selector),
      labelSelector: declare('LabelSelectorAttributes', selector),
    }),
    nonResourceAttributes: declare('NonResourceAttributes', texts('path', 'verb')),
    ...texts('user', 'uid'),
    groups: listType(STRING),
    extra: mapType(STRING, listType(STRING)),
  })
  environment = CelEnvironment.create({ libraries: kubernetesLibraries }).extend({
    libraries: [{ name: 'kubernetes.SubjectAccessReview', types: declarations }],
    variables: { request },
  })
  return environment
}
