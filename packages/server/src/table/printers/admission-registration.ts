import type {
  MutatingWebhookConfiguration,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { ageColumn, integerColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf } from '../human.ts'
import type { LooseSelector } from './loose-selector.ts'

const webhooks = printer<MutatingWebhookConfiguration | ValidatingWebhookConfiguration>(
  [
    nameColumn,
    integerColumn('Webhooks', 'Webhooks indicates the number of webhooks registered in this configuration'),
    ageColumn,
  ],
  (configuration, now) => [
    configuration.metadata?.name ?? '',
    configuration.webhooks?.length ?? 0,
    ageOf(configuration.metadata?.creationTimestamp, now),
  ],
)

/** Tables of the group admissionregistration.k8s.io. */
export const admissionRegistrationTables: Readonly<Record<string, TableDefinition>> = {
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhooks,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhooks,
  'admissionregistration.k8s.io/validatingadmissionpolicies': printer<ValidatingAdmissionPolicy>(
    [
      nameColumn,
      integerColumn(
        'Validations',
        'Validations indicates the number of validation rules defined in this configuration',
      ),
      textColumn('ParamKind', 'ParamKind specifies the kind of resources used to parameterize this policy'),
      ageColumn,
    ],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      spec?.validations?.length ?? 0,
      spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': printer<ValidatingAdmissionPolicyBinding>(
    [
      nameColumn,
      textColumn('PolicyName', 'PolicyName indicates the policy definition which the policy binding binded to'),
      textColumn('ParamRef', 'ParamRef indicates the param resource which sets the configuration param'),
      ageColumn,
    ],
    (binding, now) => [
      binding.metadata?.name ?? '',
      binding.spec?.policyName ?? '',
      parameterText(binding),
      ageOf(binding.metadata?.creationTimestamp, now),
    ],
  ),
}

function parameterText({ spec }: Loose<ValidatingAdmissionPolicyBinding>): string {
  const { name, namespace, selector } = spec?.paramRef ?? {}
  // Nothing here tells whether the parameter has a namespace at all.
  if (name) return `${namespace || '*'}/${name}`
  return selector ? goSelector(selector) : '<unset>'
}

/** A selector as the Go type prints itself. */
function goSelector(selector: NonNullable<LooseSelector>): string {
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value ?? ''},`)
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values }) =>
      `LabelSelectorRequirement{Key:${key ?? ''},Operator:${operator ?? ''},Values:[${(values ?? []).join(' ')}],},`,
  )
  const requirements = `[]LabelSelectorRequirement{${expressions.join('')}}`
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:${requirements},}`
}
