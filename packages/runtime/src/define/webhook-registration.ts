import type { AnyKind, LabelSelector } from '@kubewright/api'
import type { WebhookRegistrationOptions } from './define-webhook.ts'
import type { WebhookRule } from './webhook-rule.ts'

/** The operations that a webhook can receive. */
export type WebhookOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** The registration of one webhook with the API server. */
export interface WebhookRegistration {
  /** A domain name, unique among webhooks. Users see it in error messages. */
  readonly name: string
  readonly path: string
  /** The requests that the API server sends. */
  readonly rules: readonly WebhookRule[]
  readonly failurePolicy: 'Fail' | 'Ignore'
  readonly sideEffects: 'None' | 'NoneOnDryRun'
  readonly matchPolicy: 'Exact' | 'Equivalent' | undefined
  readonly timeoutSeconds: number | undefined
  readonly reinvocationPolicy: 'Never' | 'IfNeeded' | undefined
  readonly namespaceSelector: LabelSelector | undefined
  readonly objectSelector: LabelSelector | undefined
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[] | undefined
}

/** The options that determine the registration. */
interface Registered extends WebhookRegistrationOptions {
  readonly subresources?: readonly string[] | undefined
  readonly default?: unknown
  readonly validate?: unknown
  readonly validateDelete?: unknown
}

const pathPattern = /^((\/[a-zA-Z0-9-_]+)+|\/)$/

/** The registration of the defaulting webhook of a kind; undefined when there is none. */
export function defaultingRegistration(kind: AnyKind, options: Registered): WebhookRegistration | undefined {
  if (!options.default) {
    refuseUnused(kind, options, ['defaultingName', 'defaultingPath', 'defaultingOperations', 'reinvocationPolicy'])
    return undefined
  }
  const operations = options.defaultingOperations ?? options.operations ?? ['CREATE', 'UPDATE']
  const option = options.defaultingOperations === undefined ? 'operations' : 'defaultingOperations'
  checkOperations(kind, option, operations)
  // Deletions have no defaults.
  const defaulted = operations.filter((operation) => operation !== 'DELETE')
  if (defaulted.length === 0) {
    throw new TypeError(
      `Cannot define webhook for ${kind.kind} as '${option}' has no operation for 'default': add CREATE or UPDATE, or set 'defaultingOperations'`,
    )
  }
  return webhookRegistration(`webhook for ${kind.kind}`, options, {
    name: options.defaultingName ?? `m${nameOf(kind)}`,
    path: options.defaultingPath ?? `/mutate-${pathOf(kind)}`,
    rules: [ruleOf(kind, options, defaulted)],
    pathOption: 'defaultingPath',
    reinvocationPolicy: options.reinvocationPolicy,
  })
}

/** The registration of the validating webhook of a kind; undefined when there is none. */
export function validationRegistration(kind: AnyKind, options: Registered): WebhookRegistration | undefined {
  if (!options.validate && !options.validateDelete) {
    refuseUnused(kind, options, ['validationName', 'validationPath'])
    return undefined
  }
  const operations = options.operations ?? [
    ...(options.validate ? (['CREATE', 'UPDATE'] as const) : []),
    ...(options.validateDelete ? (['DELETE'] as const) : []),
  ]
  checkOperations(kind, 'operations', operations)
  const refuse = (problem: string): never => {
    throw new TypeError(`Cannot define webhook for ${kind.kind} as 'operations' ${problem}, or omit 'operations'`)
  }
  const answers = (operation: WebhookOperation): boolean =>
    Boolean(operation === 'DELETE' ? (options.validateDelete ?? options.validate) : options.validate)
  const unanswered = operations.find((operation) => !answers(operation))
  if (unanswered !== undefined) refuse(`contains ${unanswered}, which has no handler: add a 'validate'`)
  if (options.validateDelete && !operations.includes('DELETE')) {
    refuse("lacks DELETE, so 'validateDelete' would never be called: add it")
  }
  if (options.validate && options.validateDelete && operations.every((operation) => operation === 'DELETE')) {
    refuse("has only DELETE, so 'validate' would never be called: add CREATE or UPDATE")
  }
  return webhookRegistration(`webhook for ${kind.kind}`, options, {
    name: options.validationName ?? `v${nameOf(kind)}`,
    path: options.validationPath ?? `/validate-${pathOf(kind)}`,
    rules: [ruleOf(kind, options, operations)],
    pathOption: 'validationPath',
    reinvocationPolicy: undefined,
  })
}

const webhookOperations: readonly string[] = ['CREATE', 'UPDATE', 'DELETE']

function checkOperations(kind: AnyKind, option: string, operations: readonly string[]): void {
  const what = `Cannot define webhook for ${kind.kind} as '${option}'`
  if (operations.length === 0) throw new TypeError(`${what} is empty: name an operation, or omit '${option}'`)
  const unknown = operations.find((operation) => !webhookOperations.includes(operation))
  if (unknown !== undefined) {
    throw new TypeError(`${what} contains '${unknown}': use ${webhookOperations.join(', ')}`)
  }
}

/** Refuses options without an effect, which the author would believe to be in force. */
function refuseUnused(kind: AnyKind, options: Registered, names: readonly (keyof Registered)[]): void {
  const unused = names.find((name) => options[name] !== undefined)
  if (unused === undefined) return
  const handler = unused.startsWith('validation') ? 'validate' : 'default'
  throw new TypeError(
    `Cannot define webhook for ${kind.kind} as '${unused}' has no effect without '${handler}': add '${handler}', or omit '${unused}'`,
  )
}

/** Checks the options that all webhooks share, and adds their defaults. */
export function webhookRegistration(
  what: string,
  options: WebhookRegistrationOptions,
  own: Pick<WebhookRegistration, 'name' | 'path' | 'rules' | 'reinvocationPolicy'> & {
    readonly pathOption?: string | undefined
  },
): WebhookRegistration {
  const { timeoutSeconds } = options
  const { pathOption = 'path', ...rest } = own
  checkWebhookPath(what, pathOption, own.path)
  if (
    timeoutSeconds !== undefined &&
    !(Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30)
  ) {
    throw new RangeError(
      `Cannot define ${what} as 'timeoutSeconds' must be an integer from 1 to 30: current value is ${timeoutSeconds}`,
    )
  }
  return Object.freeze({
    ...rest,
    failurePolicy: options.failurePolicy ?? 'Fail',
    sideEffects: options.sideEffects ?? 'None',
    matchPolicy: options.matchPolicy,
    timeoutSeconds,
    namespaceSelector: options.namespaceSelector,
    objectSelector: options.objectSelector,
    matchConditions: options.matchConditions,
  })
}

/** Throws a TypeError when the path cannot be a path of the webhook server. */
export function checkWebhookPath(what: string, option: string, path: string): void {
  if (pathPattern.test(path)) return
  throw new TypeError(
    `Cannot define ${what} as '${option}' must look like "/a-path": current value is ${JSON.stringify(path)}`,
  )
}

// Subresources whose requests contain another kind of object.
const otherKinds = ['attach', 'binding', 'eviction', 'exec', 'log', 'portforward', 'proxy', 'scale', 'token']

function ruleOf(kind: AnyKind, options: Registered, operations: readonly WebhookOperation[]): WebhookRule {
  const { subresources = [] } = options
  for (const subresource of subresources) {
    const what = `Cannot define webhook for ${kind.kind} as 'subresources' contains '${subresource}'`
    if (otherKinds.includes(subresource)) {
      throw new TypeError(`${what}, whose requests contain another kind: use defineAdmission for it`)
    }
    if (!kind.subresources.includes(subresource)) {
      const known = kind.subresources.filter((one) => !otherKinds.includes(one))
      const fix = known.length === 0 ? `omit 'subresources'` : `use ${known.map((one) => `'${one}'`).join(' or ')}`
      throw new TypeError(`${what}, which ${kind.kind} does not have: ${fix}`)
    }
  }
  return Object.freeze({
    apiGroups: Object.freeze([kind.group]),
    apiVersions: Object.freeze([kind.version]),
    operations: Object.freeze([...operations]),
    resources: Object.freeze([kind.plural, ...subresources.map((subresource) => `${kind.plural}/${subresource}`)]),
    // The server's default. kubectl compares whole lists, so without it every apply would be a change.
    scope: '*',
  })
}

const nameOf = (kind: AnyKind): string => `${kind.kind.toLowerCase()}-${kind.version}.kb.io`
const pathOf = (kind: AnyKind): string =>
  `${kind.group.replaceAll('.', '-')}-${kind.version}-${kind.kind.toLowerCase()}`
