import { newBadRequest, newInvalid, parseFieldSelector, parseSelector } from '@kubewright/api'
import type { AuthorizationAttributes, Authorizer } from '../../auth/authorizer.ts'
import { resourceAttributes } from '../../auth/authorizer.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { VirtualCreate } from '../../resource/resource.ts'
import type { BuiltinTable } from '../builtin-resources.ts'
import {
  type AccessReviewSpec,
  type ResourceAttributesSpec,
  type SelectorSpec,
  validateAccessReview,
} from './validate-access-review.ts'

const group = 'authorization.k8s.io'

/** SubjectAccessReview and its relatives: what may somebody do. */
export function authorizationReviews(authorizer: Authorizer): BuiltinTable {
  return {
    [`${group}/subjectaccessreviews`]: { virtual: reviewAccess(authorizer, 'SubjectAccessReview') },
    [`${group}/localsubjectaccessreviews`]: { virtual: reviewAccess(authorizer, 'LocalSubjectAccessReview') },
    [`${group}/selfsubjectaccessreviews`]: { virtual: reviewAccess(authorizer, 'SelfSubjectAccessReview') },
    [`${group}/selfsubjectrulesreviews`]: { virtual: reviewRules(authorizer) },
  }
}

function reviewAccess(
  authorizer: Authorizer,
  kind: 'SubjectAccessReview' | 'LocalSubjectAccessReview' | 'SelfSubjectAccessReview',
): VirtualCreate {
  return async (context, review, admit) => {
    const errors = validateAccessReview(review, kind)
    // The kind is empty here in the real server as well: its internal objects do not carry one.
    if (errors.length > 0) throw newInvalid({ group, kind: '' }, '', errors)
    await admit()
    const spec = review['spec'] as AccessReviewSpec
    const user = kind === 'SelfSubjectAccessReview' ? context.user : subjectOf(spec)
    const { allowed, reason } = await authorizer.authorize(attributesFrom(user, spec))
    const evaluationError = selectorErrors(spec.resourceAttributes ?? undefined)
    review['status'] = {
      allowed,
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
    } = about
    return resourceAttributes(user, {
      verb,
      group: apiGroup,
      version: version || '*',
      resource,
      subresource,
      namespace,
      name,
    })
  }
  const { verb = '', path = '' } = spec.nonResourceAttributes ?? {}
  return { ...resourceAttributes(user, { verb, group: '', resource: '' }), isResource: false, version: '', path }
}

/** Selectors that cannot be read are ignored, and the answer says so. */
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

/** Field selectors know equality only. */
function isUsableFieldRequirement({ operator, values }: Requirement): boolean {
  return (operator === 'In' || operator === 'NotIn') && values?.length === 1
}

function reviewRules(authorizer: Authorizer): VirtualCreate {
  return async (context, review, admit): Promise<MutableObject> => {
    const { namespace = '' } = (review['spec'] ?? {}) as { namespace?: string }
    if (namespace === '') throw newBadRequest('no namespace on request')
    await admit()
    const rules = await authorizer.rulesFor?.(context.user, namespace)
    return {
      apiVersion: review.apiVersion,
      kind: review.kind,
      metadata: {},
      spec: {},
      status: {
        resourceRules: rules?.resourceRules ?? [],
        nonResourceRules: rules?.nonResourceRules ?? [],
        incomplete: rules?.incomplete ?? true,
        ...(rules?.evaluationError ? { evaluationError: rules.evaluationError } : {}),
      },
    }
  }
}
