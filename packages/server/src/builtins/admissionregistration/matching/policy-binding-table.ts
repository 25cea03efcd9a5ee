import type { ValidatingAdmissionPolicyBinding } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import type { LooseSelector } from '../../../table/loose-selector.ts'

/** The columns of the bindings of validating and mutating policies. */
export const policyBindingTable: TableDefinition = defineTable<ValidatingAdmissionPolicyBinding>([
  nameColumn,
  textColumn('PolicyName', 'Name of the policy.', ({ spec }) => spec?.policyName ?? ''),
  textColumn('ParamRef', 'Parameters of the policy.', parameterText),
  ageColumn,
])

function parameterText({ spec }: Loose<ValidatingAdmissionPolicyBinding>): string {
  const { name, namespace, selector } = spec?.paramRef ?? {}
  // The printer cannot determine whether the kind of the parameters is namespaced.
  if (name) return `${namespace || '*'}/${name}`
  return selector ? goSelector(selector) : '<unset>'
}

/** A selector in the format of Go's String method. */
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
