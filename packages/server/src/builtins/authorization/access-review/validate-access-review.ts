import { validateLabelSelector } from '@kubewright/api'
import { append } from '@kubewright/base'
import { FieldError, FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableMeta, MutableObject } from '../../../resource/object.ts'
import { structValue } from '../../checks/strategy-checks.ts'

/** A selector in a review: a text or a list of requirements. */
export interface SelectorSpec {
  readonly rawSelector?: string | undefined
  readonly requirements?:
    | readonly {
        readonly key?: string | undefined
        readonly operator?: string | undefined
        readonly values?: readonly string[] | undefined
      }[]
    | null
    | undefined
}

/** The resource and verb that a review is about. */
export interface ResourceAttributesSpec {
  readonly namespace?: string | undefined
  readonly verb?: string | undefined
  readonly group?: string | undefined
  readonly version?: string | undefined
  readonly resource?: string | undefined
  readonly subresource?: string | undefined
  readonly name?: string | undefined
  readonly fieldSelector?: SelectorSpec | null | undefined
  readonly labelSelector?: SelectorSpec | null | undefined
}

/** The spec of an access review of any kind. */
export interface AccessReviewSpec {
  readonly resourceAttributes?: ResourceAttributesSpec | null | undefined
  readonly nonResourceAttributes?:
    | { readonly path?: string | undefined; readonly verb?: string | undefined }
    | null
    | undefined
  readonly user?: string | undefined
  readonly groups?: readonly string[] | null | undefined
  readonly uid?: string | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | null | undefined
}

/** The kinds of access reviews. */
export type AccessReviewKind = 'SubjectAccessReview' | 'LocalSubjectAccessReview' | 'SelfSubjectAccessReview'

/** Checks an access review (pkg/apis/authorization/validation). */
export function validateAccessReview(review: MutableObject, kind: AccessReviewKind): FieldError[] {
  const spec = (review['spec'] ?? {}) as AccessReviewSpec
  const { resourceAttributes, nonResourceAttributes } = spec
  const errors: FieldError[] = []
  const path = FieldPath.of('spec')
  // The error shows the field names of the internal Go type.
  const shownPath = nonResourceAttributes && {
    Path: nonResourceAttributes.path ?? '',
    Verb: nonResourceAttributes.verb ?? '',
  }
  if (resourceAttributes && nonResourceAttributes) {
    const text = 'cannot be specified in combination with resourceAttributes'
    errors.push(invalid(path.child('nonResourceAttributes'), shownPath, text))
  }
  if (!resourceAttributes && !nonResourceAttributes) {
    const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
    errors.push(invalid(path.child('resourceAttributes'), null, text))
  }
  if (kind !== 'SelfSubjectAccessReview' && !spec.user && !spec.groups?.length) {
    errors.push(invalid(path.child('user'), spec.user ?? '', 'at least one of user or group must be specified'))
  }
  if (resourceAttributes) {
    const at = path.child('resourceAttributes')
    append(
      errors,
      validateSelector(resourceAttributes.fieldSelector, at.child('fieldSelector'), validateFieldRequirement),
    )
    append(
      errors,
      validateSelector(resourceAttributes.labelSelector, at.child('labelSelector'), validateLabelRequirement),
    )
  }

  const local = kind === 'LocalSubjectAccessReview'
  const { managedFields: _, namespace, ...rest } = review.metadata
  const others = local || !namespace ? rest : { ...rest, namespace }
  if (Object.values(others).some(isSet)) {
    const text = local ? 'must be empty except for namespace' : 'must be empty'
    errors.push(invalid(FieldPath.of('metadata'), inGoOrder(review.metadata), text))
  }
  if (local && resourceAttributes && (resourceAttributes.namespace ?? '') !== (namespace ?? '')) {
    const at = path.child('resourceAttributes').child('namespace')
    errors.push(invalid(at, resourceAttributes.namespace ?? '', 'must match metadata.namespace'))
  }
  if (local && nonResourceAttributes) {
    errors.push(invalid(path.child('nonResourceAttributes'), shownPath, 'disallowed on this kind of request'))
  }
  return errors
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

type Requirement = NonNullable<SelectorSpec['requirements']>[number]

function validateSelector(
  selector: SelectorSpec | null | undefined,
  path: FieldPath,
  validateRequirement: (requirement: Requirement, path: FieldPath) => FieldError[],
): FieldError[] {
  if (!selector) return []
  const errors: FieldError[] = []
  const requirements = selector.requirements ?? []
  const raw = selector.rawSelector ?? ''
  if (raw !== '' && requirements.length > 0) {
    errors.push(invalid(path.child('rawSelector'), raw, 'may not specified at the same time as requirements'))
  }
  if (raw === '' && requirements.length === 0) {
    const text = `when ${path.toString()} is specified, requirements or rawSelector is required`
    errors.push(required(path.child('requirements'), text))
  }
  for (const [i, requirement] of requirements.entries()) {
    append(errors, validateRequirement(requirement, path.child('requirements').index(i)))
  }
  return errors
}

/** Checks a requirement of a field selector. Unknown operators are valid, because newer clients may use them. */
function validateFieldRequirement({ key, operator, values }: Requirement, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (!key) errors.push(required(path.child('key'), 'must be specified'))
  if ((operator === 'In' || operator === 'NotIn') && !values?.length) {
    errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"))
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values?.length) {
    errors.push(forbidden(path.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  }
  return errors
}

/** Checks a requirement of a label selector by the rules of label selectors, and moves the errors to `path`. */
function validateLabelRequirement(requirement: Requirement, path: FieldPath): FieldError[] {
  const { key = '', operator = '', values } = requirement
  const selector = { matchExpressions: [{ key, operator, ...(values ? { values } : {}) }] }
  const prefix = FieldPath.of('matchExpressions').index(0).toString()
  return validateLabelSelector(selector, FieldPath.of('$'), { allowUnknownOperatorInRequirement: true }).map(
    (error) => {
      const below = error.field.slice(`$.${prefix}`.length)
      return new FieldError(error.type, `${path.toString()}${below}`, error.badValue, error.detail)
    },
  )
}

const metaOrder: readonly (keyof MutableMeta)[] = [
  'name',
  'generateName',
  'namespace',
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'managedFields',
]
const managedFieldsOrder = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1', 'subresource']

/** Metadata with its fields in the order of Go's struct, as errors show it. */
function inGoOrder(metadata: MutableMeta): unknown {
  const ordered = pick(metadata, metaOrder as readonly string[])
  if (metadata.managedFields)
    ordered['managedFields'] = metadata.managedFields.map((entry) => pick(entry, managedFieldsOrder))
  return structValue(ordered)
}

function pick(from: Readonly<Record<string, unknown>>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]))
}
