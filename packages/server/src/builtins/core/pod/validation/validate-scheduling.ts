import { validateLabelSelector } from '@kubewright/api'
import { append, isDNS1123Label, isQualifiedName, isValidLabelValue, nameIsDNSSubdomain } from '@kubewright/base'
import { duplicate, type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { addInvalid, checkEnum, checkPositive, checkQualifiedName, unsupported } from '../../../checks/field-checks.ts'
import type { PodSpec } from '../pod-types.ts'

type Affinity = NonNullable<PodSpec['affinity']>
type NodeAffinity = NonNullable<Affinity['nodeAffinity']>
type NodeSelector = NonNullable<NodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']>
type NodeSelectorTerm = NonNullable<NodeSelector['nodeSelectorTerms']>[number]
type NodeRequirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number]
type PodTerms = NonNullable<Affinity['podAffinity']>
type PodTerm = NonNullable<PodTerms['requiredDuringSchedulingIgnoredDuringExecution']>[number]
type Spread = NonNullable<PodSpec['topologySpreadConstraints']>[number]
type LabelSelector = Spread['labelSelector']

/** Checks the affinities of a pod. */
export function validateAffinity(affinity: Affinity | undefined, path: FieldPath, errors: FieldError[]): void {
  if (!affinity) return
  if (affinity.nodeAffinity) validateNodeAffinity(affinity.nodeAffinity, path.child('nodeAffinity'), errors)
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = affinity[kind]
    if (terms) validatePodTerms(terms as PodTerms, path.child(kind), errors)
  }
}

function validateNodeAffinity(affinity: NodeAffinity, path: FieldPath, errors: FieldError[]): void {
  const needed = affinity.requiredDuringSchedulingIgnoredDuringExecution
  if (needed) validateNodeSelector(needed, path.child('requiredDuringSchedulingIgnoredDuringExecution'), errors)
  const at = path.child('preferredDuringSchedulingIgnoredDuringExecution')
  for (const [i, term] of (affinity.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    checkWeight(errors, at.index(i), term.weight)
    // As in core/validation: the values of preferences are not checked.
    validateNodeSelectorTerm(term.preference ?? {}, false, at.index(i).child('preference'), errors)
  }
}

function checkWeight(errors: FieldError[], path: FieldPath, weight = 0): void {
  if (weight > 0 && weight <= 100) return
  errors.push(invalid(path.child('weight'), weight, 'must be in the range 1-100'))
}

/** Checks a node selector. It must have a term. */
export function validateNodeSelector(selector: NodeSelector, path: FieldPath, errors: FieldError[]): void {
  const at = path.child('nodeSelectorTerms')
  const terms = selector.nodeSelectorTerms ?? []
  if (terms.length === 0) errors.push(required(at, 'must have at least one node selector term'))
  for (const [i, term] of terms.entries()) validateNodeSelectorTerm(term, true, at.index(i), errors)
}

function validateNodeSelectorTerm(
  term: NodeSelectorTerm,
  checkValues: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const [i, requirement] of (term.matchExpressions ?? []).entries()) {
    validateNodeRequirement(requirement, checkValues, path.child('matchExpressions').index(i), errors)
  }
  for (const [i, requirement] of (term.matchFields ?? []).entries()) {
    validateFieldRequirement(requirement, path.child('matchFields').index(i), errors)
  }
}

function validateNodeRequirement(
  { key = '', operator = '', values = [] }: NodeRequirement,
  checkValues: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('values')
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) errors.push(required(at, "must be specified when `operator` is 'In' or 'NotIn'"))
      break
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        errors.push(forbidden(at, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
      }
      break
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        errors.push(required(at, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
      }
      break
    default:
      errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  }
  checkQualifiedName(errors, path.child('key'), key)
  if (!checkValues) return
  for (const [i, value] of values.entries()) addInvalid(errors, at.index(i), value, isValidLabelValue(value))
}

function validateFieldRequirement(
  { key = '', operator = '', values = [] }: NodeRequirement,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('values')
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length !== 1) {
      errors.push(required(at, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"))
    }
  } else errors.push(invalid(path.child('operator'), operator, 'not a valid selector operator'))
  if (key !== 'metadata.name') errors.push(invalid(path.child('key'), key, 'not a valid field selector key'))
  else {
    for (const [i, value] of values.entries()) addInvalid(errors, at.index(i), value, nameIsDNSSubdomain(value, false))
  }
}

function validatePodTerms(terms: PodTerms, path: FieldPath, errors: FieldError[]): void {
  const needed = path.child('requiredDuringSchedulingIgnoredDuringExecution')
  for (const [i, term] of (terms.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    validatePodTerm(term, needed.index(i), errors)
  }
  const preferred = path.child('preferredDuringSchedulingIgnoredDuringExecution')
  for (const [i, term] of (terms.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    checkWeight(errors, preferred.index(i), term.weight)
    validatePodTerm(term.podAffinityTerm ?? {}, preferred.index(i).child('podAffinityTerm'), errors)
  }
}

function validatePodTerm(term: PodTerm, path: FieldPath, errors: FieldError[]): void {
  append(errors, labelSelectorErrors(term.labelSelector, path.child('labelSelector')))
  append(errors, labelSelectorErrors(term.namespaceSelector, path.child('namespaceSelector')))
  for (const name of term.namespaces ?? []) addInvalid(errors, path.child('namespace'), name, isDNS1123Label(name))
  validateLabelKeys(term.matchLabelKeys, term.mismatchLabelKeys, term.labelSelector, path, errors)
  const key = term.topologyKey ?? ''
  if (key === '') errors.push(required(path.child('topologyKey'), 'can not be empty'))
  checkQualifiedName(errors, path.child('topologyKey'), key)
}

/** Checks a label selector of a pod spec. */
export function labelSelectorErrors(selector: LabelSelector, path: FieldPath): readonly FieldError[] {
  // The cast is safe: the check copes with every decoded selector.
  return selector ? validateLabelSelector(selector as Parameters<typeof validateLabelSelector>[0], path) : []
}

/** Checks `matchLabelKeys` or `mismatchLabelKeys`. */
function validateLabelKeys(
  matching: readonly string[] = [],
  mismatching: readonly string[] = [],
  selector: LabelSelector,
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const [field, keys] of [
    ['matchLabelKeys', matching],
    ['mismatchLabelKeys', mismatching],
  ] as const) {
    if (keys.length === 0) continue
    const at = path.child(field)
    if (!selector) errors.push(forbidden(at, 'must not be specified when labelSelector is not set'))
    else for (const [i, key] of keys.entries()) addInvalid(errors, at.index(i), key, isQualifiedName(key))
  }
  const seen = new Set(Object.keys(selector?.matchLabels ?? {}))
  // A later position of the same key replaces an earlier one.
  const positions = new Map(matching.map((key, i) => [key, i]))
  for (const { key = '' } of selector?.matchExpressions ?? []) {
    const i = positions.get(key)
    // The server has added one requirement per key to the selector. A second one for the same key is the client's.
    if (i !== undefined && seen.has(key)) {
      errors.push(invalid(path.index(i), key, 'exists in both matchLabelKeys and labelSelector'))
    }
    seen.add(key)
  }
  const others = new Set(mismatching)
  for (const [i, key] of matching.entries()) {
    if (!others.has(key)) continue
    const text = 'exists in both matchLabelKeys and mismatchLabelKeys'
    errors.push(invalid(path.child('matchLabelKeys').index(i), key, text))
  }
}

/** Checks topology spread constraints. */
export function validateTopologySpread(constraints: readonly Spread[], path: FieldPath, errors: FieldError[]): void {
  // The constraints from the current one on, counted by key and action: comparing all pairs would be quadratic.
  const following = new Map<string, number>()
  const pairOf = ({ topologyKey = '', whenUnsatisfiable = '' }: Spread): string =>
    JSON.stringify([topologyKey, whenUnsatisfiable])
  for (const constraint of constraints) {
    const pair = pairOf(constraint)
    following.set(pair, (following.get(pair) ?? 0) + 1)
  }
  for (const [i, constraint] of constraints.entries()) {
    const at = path.index(i)
    const { topologyKey = '', whenUnsatisfiable = '', minDomains } = constraint
    checkPositive(errors, at.child('maxSkew'), constraint.maxSkew)
    if (topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'))
    checkEnum(errors, at.child('whenUnsatisfiable'), whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'])
    const pair = pairOf(constraint)
    const repeats = following.get(pair)! - 1
    following.set(pair, repeats)
    if (repeats > 0) {
      errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`))
    }
    if (minDomains !== undefined) {
      checkPositive(errors, at.child('minDomains'), minDomains)
      if (whenUnsatisfiable !== 'DoNotSchedule') {
        const text = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`
        errors.push(invalid(at.child('minDomains'), minDomains, text))
      }
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const) {
      const policy = constraint[field]
      if (policy !== undefined && policy !== 'Honor' && policy !== 'Ignore') {
        errors.push(unsupported(at.child(field), policy, ['Honor', 'Ignore']))
      }
    }
    validateLabelKeys(constraint.matchLabelKeys, [], constraint.labelSelector, at, errors)
    append(errors, labelSelectorErrors(constraint.labelSelector, at.child('labelSelector')))
  }
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

/** Checks tolerations. */
export function validateTolerations(
  tolerations: NonNullable<PodSpec['tolerations']>,
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const [i, { key = '', operator = '', value = '', effect = '', tolerationSeconds }] of tolerations.entries()) {
    const at = path.index(i)
    if (key !== '') checkQualifiedName(errors, at.child('key'), key)
    else if (operator !== 'Exists') {
      const text = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(invalid(at.child('operator'), operator, text))
    }
    if (tolerationSeconds !== undefined && effect !== 'NoExecute') {
      const text = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      errors.push(invalid(at.child('effect'), effect, text))
    }
    if (operator === 'Equal' || operator === '') {
      const texts = isValidLabelValue(value)
      if (texts.length > 0) errors.push(invalid(at.child('operator'), value, texts.join(';')))
    } else if (operator === 'Exists') {
      if (value !== '') {
        errors.push(invalid(at.child('operator'), value, "value must be empty when `operator` is 'Exists'"))
      }
    } else {
      const known = operator === 'Lt' || operator === 'Gt' ? ['Equal', 'Exists', 'Lt', 'Gt'] : ['Equal', 'Exists']
      errors.push(unsupported(at.child('operator'), operator, known))
    }
    if (effect !== '' && !effects.includes(effect)) errors.push(unsupported(at.child('effect'), effect, effects))
  }
}

/** Checks the effect of a taint. It is required. */
export function checkTaintEffect(errors: FieldError[], path: FieldPath, effect: string | undefined): void {
  checkEnum(errors, path, effect, effects, true)
}
