import { newInvalid, parseFieldSelector, parseSelector } from '@kubewright/api'
import type { AuthorizationAttributes, Authorizer } from '../../../auth/authorizer.ts'
import { resourceAttributes, valueIn } from '../../../auth/authorizer.ts'
import type { UserInfo } from '../../../request/user-info.ts'
import type { VirtualCreate } from '../../../resource/resource.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import {
  type AccessReviewKind,
  type AccessReviewSpec,
  type ResourceAttributesSpec,
  type SelectorSpec,
  validateAccessReview,
} from './validate-access-review.ts'

const group = 'authorization.k8s.io'

/** SubjectAccessReviews, which check whether a user is authorized for a request (pkg/registry/authorization). */
export const subjectAccessReviews: BuiltinDefinition = accessReviews('subjectaccessreviews', 'SubjectAccessReview')

/** SubjectAccessReviews that are limited to a namespace. */
export const localSubjectAccessReviews: BuiltinDefinition = accessReviews(
  'localsubjectaccessreviews',
  'LocalSubjectAccessReview',
)

/** SubjectAccessReviews about the user of the request. */
export const selfSubjectAccessReviews: BuiltinDefinition = accessReviews(
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
)

function accessReviews(resource: string, kind: AccessReviewKind): BuiltinDefinition {
  return defineBuiltin({
    group,
    resource,
    withServer: ({ access }) => (access ? { virtual: reviewAccess(access.authorizer, kind) } : {}),
  })
}

function reviewAccess(authorizer: Authorizer, kind: AccessReviewKind): VirtualCreate {
  return async (context, review, admit) => {
    const errors = validateAccessReview(review, kind)
    // As in kube-apiserver: the error names no kind, because the internal object has none.
    if (errors.length > 0) throw newInvalid({ group, kind: '' }, '', errors)
    await admit()
    const spec = review['spec'] as AccessReviewSpec
    const user = kind === 'SelfSubjectAccessReview' ? context.user : subjectOf(spec)
    const { allowed, denied, reason, error } = await authorizer.authorize(attributesFrom(user, spec))
    const selectors = selectorErrors(spec.resourceAttributes ?? undefined)
    const evaluationError = [selectors, error ?? ''].filter((text) => text !== '').join(', ')
    review['status'] = {
      allowed,
      ...(denied ? { denied } : {}),
      ...(reason === '' ? {} : { reason }),
      ...(evaluationError === '' ? {} : { evaluationError }),
    }
    return review
  }
}

function subjectOf({ user = '', groups, uid, extra }: AccessReviewSpec): UserInfo {
  return { name: user, groups: groups ?? [], ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) }
}

function attributesFrom(user: UserInfo, spec: AccessReviewSpec): AuthorizationAttributes {
  const about = spec.resourceAttributes
  if (about) {
    const {
      verb = '',
      group: apiGroup = '',
      version,
      resource = '',
      subresource = '',
      namespace = '',
      name = '',
      fieldSelector,
      labelSelector,
    } = about
    return resourceAttributes(user, {
      verb,
      group: apiGroup,
      version: version || '*',
      resource,
      subresource,
      namespace,
      name,
      selectedValue: (field) => valueInSpec(fieldSelector, field),
      selectors: { fields: fieldSelector?.rawSelector ?? '', labels: labelSelector?.rawSelector ?? '' },
    })
  }
  const { verb = '', path = '' } = spec.nonResourceAttributes ?? {}
  return { ...resourceAttributes(user, { verb, group: '', resource: '' }), isResource: false, version: '', path }
}

function valueInSpec(selector: SelectorSpec | null | undefined, field: string): string | undefined {
  const required = (selector?.requirements ?? []).find(
    (one) => one.key === field && one.operator === 'In' && isUsableFieldRequirement(one),
  )
  return required?.values?.[0] ?? valueIn(selector?.rawSelector, field)
}

/** The evaluation error for selectors that cannot be parsed. The review ignores them. */
function selectorErrors(about: ResourceAttributesSpec | undefined): string {
  const texts: string[] = []
  const check = (
    name: string,
    selector: SelectorSpec | null | undefined,
    parse: (text: string) => unknown,
    known: (one: Requirement) => boolean,
  ) => {
    if (!selector) return
    let usable = 0
    let bad = false
    if (selector.rawSelector) {
      try {
        parse(selector.rawSelector)
      } catch {
        bad = true
      }
    }
    for (const requirement of selector.requirements ?? []) {
      if (known(requirement)) usable++
      else bad = true
    }
    if (bad)
      texts.push(`spec.resourceAttributes.${name} ${usable > 0 ? 'partially ignored' : 'ignored'} due to parse error`)
  }
  check('fieldSelector', about?.fieldSelector, parseFieldSelector, isUsableFieldRequirement)
  check('labelSelector', about?.labelSelector, parseSelector, ({ operator = '' }) => labelOperators.includes(operator))
  return texts.join('; ')
}

type Requirement = NonNullable<SelectorSpec['requirements']>[number]

const labelOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist']

/** Whether a field selector can express a requirement: it supports only equality. */
function isUsableFieldRequirement({ operator, values }: Requirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values?.length === 1
}
