import { deepEqual, isDNS1035Label, isFullyQualifiedName, nameIsDNSSubdomain } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { duplicate, type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { checkSelector } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { validateMatchConditions } from '../matching/match-conditions.ts'
import { defaultRule, validateRule } from '../matching/validate-rules.ts'
import { validateWebhookClient } from './validate-webhook-client.ts'
import { webhookConfigurationTable } from './webhook-configuration-table.ts'

type Webhook = Unchecked<admission.ValidatingWebhook> & { reinvocationPolicy?: string | undefined }

/** Which rules apply. An update skips a rule that the stored object already violates. */
interface Options {
  /** Whether webhooks must declare that they have no side effects. */
  readonly noSideEffects: boolean
  /** Whether webhooks must support a version of AdmissionReview that the server supports. */
  readonly knownReviewVersion: boolean
  readonly uniqueNames: boolean
  readonly allowInvalidLabelValue: boolean
  readonly skipMatchConditions: boolean
}

const strict: Options = {
  noSideEffects: true,
  knownReviewVersion: true,
  uniqueNames: true,
  allowInvalidLabelValue: false,
  skipMatchConditions: false,
}
const harmless = ['None', 'NoneOnDryRun']
const sideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown']
const reviewVersions = ['v1', 'v1beta1']
const webhooksPath = FieldPath.of('webhooks')

/** ValidatingWebhookConfigurations (pkg/registry/admissionregistration). */
export const validatingWebhookConfigurations: BuiltinDefinition = defineBuiltin({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingwebhookconfigurations',
  table: webhookConfigurationTable,
  strategy: configurationStrategy(false),
})

/** MutatingWebhookConfigurations (pkg/registry/admissionregistration). */
export const mutatingWebhookConfigurations: BuiltinDefinition = defineBuiltin({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingwebhookconfigurations',
  table: webhookConfigurationTable,
  strategy: configurationStrategy(true),
})

function configurationStrategy(mutating: boolean): Strategy {
  return {
    validateName: nameIsDNSSubdomain,
    anyFinalizer: true,
    metadataOnUpdate: ['create'],
    allowUnconditionalUpdate: false,
    setDefaults: (object) => {
      for (const webhook of webhooksOf(object)) setDefaults(webhook, mutating)
    },
    generation: (object, old) => !deepEqual(webhooksOf(object), webhooksOf(old)),
    validate: (object) => validateWebhooks(webhooksOf(object), strict),
    validateUpdate: (object, old) => {
      const webhooks = webhooksOf(object)
      return validateWebhooks(webhooks, optionsFor(webhooks, webhooksOf(old)))
    },
  }
}

function webhooksOf(object: MutableObject): Webhook[] {
  return (object['webhooks'] as Webhook[] | null | undefined) ?? []
}

function setDefaults(webhook: Webhook, mutating: boolean): void {
  webhook.failurePolicy ??= 'Fail'
  webhook.matchPolicy ??= 'Equivalent'
  webhook.namespaceSelector ??= {}
  webhook.objectSelector ??= {}
  webhook.timeoutSeconds ??= 10
  if (mutating) webhook.reinvocationPolicy ??= 'Never'
  for (const rule of webhook.rules ?? []) defaultRule(rule)
  if (webhook.clientConfig?.service) webhook.clientConfig.service.port ??= 443
}

function optionsFor(webhooks: readonly Webhook[], old: readonly Webhook[]): Options {
  const invalidSelectors: FieldError[] = []
  for (const { namespaceSelector, objectSelector } of old) {
    checkSelector(invalidSelectors, webhooksPath, namespaceSelector)
    checkSelector(invalidSelectors, webhooksPath, objectSelector)
  }
  return {
    noSideEffects: old.every((webhook) => harmless.includes(webhook.sideEffects ?? '')),
    knownReviewVersion: old.every(
      ({ admissionReviewVersions: versions = [] }) => versions.length === 0 || isKnown(versions),
    ),
    uniqueNames: new Set(old.map(({ name }) => name)).size === old.length,
    allowInvalidLabelValue: invalidSelectors.length > 0,
    skipMatchConditions:
      webhooks.length === old.length &&
      webhooks.every(({ matchConditions }, i) => deepEqual(matchConditions, old[i]?.matchConditions)),
  }
}

function isKnown(versions: readonly string[]): boolean {
  return versions.some((version) => reviewVersions.includes(version))
}

function validateWebhooks(webhooks: readonly Webhook[], options: Options): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, webhook] of webhooks.entries()) {
    const at = webhooksPath.index(i)
    validateWebhook(webhook, options, at, errors)
    validateReviewVersions(webhook.admissionReviewVersions ?? [], options, at.child('admissionReviewVersions'), errors)
    const { name = '' } = webhook
    if (!options.uniqueNames || name === '') continue
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
  }
  return errors
}

function validateWebhook(webhook: Webhook, options: Options, path: FieldPath, errors: FieldError[]): void {
  const { name = '', timeoutSeconds: timeout } = webhook
  if (name === '') errors.push(required(path.child('name')))
  else addInvalid(errors, path.child('name'), name, isFullyQualifiedName(name))
  for (const [i, rule] of (webhook.rules ?? []).entries()) validateRule(rule, path.child('rules').index(i), errors)
  const oneOf = (field: 'failurePolicy' | 'matchPolicy' | 'reinvocationPolicy', known: readonly string[]): void => {
    const value = webhook[field]
    if (value !== undefined && !known.includes(value)) errors.push(unsupported(path.child(field), value, known))
  }
  oneOf('failurePolicy', ['Fail', 'Ignore'])
  oneOf('matchPolicy', ['Equivalent', 'Exact'])
  const allowed = options.noSideEffects ? harmless : sideEffects
  if (webhook.sideEffects === undefined) {
    errors.push(required(path.child('sideEffects'), `must specify one of ${allowed.join(', ')}`))
  } else if (!allowed.includes(webhook.sideEffects)) {
    errors.push(unsupported(path.child('sideEffects'), webhook.sideEffects, allowed))
  }
  if (timeout !== undefined && (timeout > 30 || timeout < 1)) {
    const text = 'the timeout value must be between 1 and 30 seconds'
    errors.push(invalid(path.child('timeoutSeconds'), timeout, text))
  }
  for (const field of ['namespaceSelector', 'objectSelector'] as const) {
    checkSelector(errors, path.child(field), webhook[field], options.allowInvalidLabelValue)
  }
  oneOf('reinvocationPolicy', ['IfNeeded', 'Never'])
  validateWebhookClient(webhook.clientConfig ?? {}, path.child('clientConfig'), errors)
  if (options.skipMatchConditions) return
  validateMatchConditions(webhook.matchConditions ?? [], false, path.child('matchConditions'), errors)
}

function validateReviewVersions(
  versions: readonly string[],
  options: Options,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (versions.length === 0) {
    errors.push(required(path, `must specify one of ${reviewVersions.join(', ')}`))
    return
  }
  const seen = new Set<string>()
  for (const [i, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(path.index(i), version, 'duplicate version'))
    else addInvalid(errors, path.index(i), version, isDNS1035Label(version))
    seen.add(version)
  }
  if (options.knownReviewVersion && !isKnown(versions)) {
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`))
  }
}
