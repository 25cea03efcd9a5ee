import { newBadRequest } from '@kubewright/api'
import type { Authorizer } from '../../../auth/authorizer.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { VirtualCreate } from '../../../resource/resource.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

/** SelfSubjectRulesReviews, which list the permissions of the user in a namespace (pkg/registry/authorization). */
export const selfSubjectRulesReviews: BuiltinDefinition = defineBuiltin({
  group: 'authorization.k8s.io',
  resource: 'selfsubjectrulesreviews',
  withServer: ({ access }) => (access ? { virtual: reviewRules(access.authorizer) } : {}),
})

function reviewRules(authorizer: Authorizer): VirtualCreate {
  return async (context, review, admit): Promise<MutableObject> => {
    const { namespace = '' } = (review['spec'] ?? {}) as { namespace?: string | undefined }
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
