import type { AnyKind, LabelSelector } from '@kubewright/api'
import type { WebhookRegistrationOptions } from './define-webhook.ts'

/** The operations that a webhook can receive. */
export type WebhookOperation = 'CREATE' | 'UPDATE' | 'DELETE'

/** The registration of one webhook with the API server. */
export interface WebhookRegistration {
  /** A domain name, unique among webhooks. Users see it in error messages. */
  readonly name: string
  readonly path: string
  readonly operations: readonly WebhookOperation[]
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
  readonly default?: unknown
  readonly validate?: unknown
  readonly validateDelete?: unknown
}

const pathPattern = /^((\/[a-zA-Z0-9-_]+)+|\/)$/

/** The registration of the defaulting webhook of a kind; undefined when there is none. */
export function defaultingRegistration(kind: AnyKind, options: Registered): WebhookRegistration | undefined {
  if (!options.default) return undefined
  return registration(kind, options, {
    name: options.defaultingName ?? `m${nameOf(kind)}`,
    path: checkPath(kind, 'defaultingPath', options.defaultingPath ?? `/mutate-${pathOf(kind)}`),
    // Deletions have no defaults.
    operations: ['CREATE', 'UPDATE'],
    reinvocationPolicy: options.reinvocationPolicy,
  })
}

/** The registration of the validating webhook of a kind; undefined when there is none. */
export function validationRegistration(kind: AnyKind, options: Registered): WebhookRegistration | undefined {
  if (!options.validate && !options.validateDelete) return undefined
  const operations = options.operations ?? [
    ...(options.validate ? (['CREATE', 'UPDATE'] as const) : []),
    ...(options.validateDelete ? (['DELETE'] as const) : []),
  ]
  const answers = (operation: WebhookOperation): boolean =>
    Boolean(operation === 'DELETE' ? (options.validateDelete ?? options.validate) : options.validate)
  const unanswered = operations.find((operation) => !answers(operation))
  if (operations.length === 0 || unanswered !== undefined) {
    const what =
      unanswered === undefined ? `'operations' is empty` : `'operations' contains ${unanswered}, which has no handler`
    throw new TypeError(`Cannot define webhook for ${kind.kind} as ${what}: add a 'validate', or omit 'operations'`)
  }
  return registration(kind, options, {
    name: options.validationName ?? `v${nameOf(kind)}`,
    path: checkPath(kind, 'validationPath', options.validationPath ?? `/validate-${pathOf(kind)}`),
    operations,
    reinvocationPolicy: undefined,
  })
}

function registration(
  kind: AnyKind,
  options: Registered,
  own: Pick<WebhookRegistration, 'name' | 'path' | 'operations' | 'reinvocationPolicy'>,
): WebhookRegistration {
  const { timeoutSeconds } = options
  if (
    timeoutSeconds !== undefined &&
    !(Number.isInteger(timeoutSeconds) && timeoutSeconds >= 1 && timeoutSeconds <= 30)
  ) {
    throw new RangeError(
      `Cannot define webhook for ${kind.kind} as 'timeoutSeconds' must be an integer from 1 to 30: current value is ${timeoutSeconds}`,
    )
  }
  return Object.freeze({
    ...own,
    failurePolicy: options.failurePolicy ?? 'Fail',
    sideEffects: options.sideEffects ?? 'None',
    matchPolicy: options.matchPolicy,
    timeoutSeconds,
    namespaceSelector: options.namespaceSelector,
    objectSelector: options.objectSelector,
    matchConditions: options.matchConditions,
  })
}

function checkPath(kind: AnyKind, option: string, path: string): string {
  if (!pathPattern.test(path)) {
    throw new TypeError(
      `Cannot define webhook for ${kind.kind} as '${option}' must look like "/a-path": current value is ${JSON.stringify(path)}`,
    )
  }
  return path
}

const nameOf = (kind: AnyKind): string => `${kind.kind.toLowerCase()}-${kind.version}.kb.io`
const pathOf = (kind: AnyKind): string =>
  `${kind.group.replaceAll('.', '-')}-${kind.version}-${kind.kind.toLowerCase()}`
