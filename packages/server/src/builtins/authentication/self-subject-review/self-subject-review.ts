import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { userFields } from '../user-fields.ts'

/** SelfSubjectReviews, which show the user of the request (pkg/registry/authentication/selfsubjectreview). */
export const selfSubjectReviews: BuiltinDefinition = defineBuiltin({
  group: 'authentication.k8s.io',
  resource: 'selfsubjectreviews',
  virtual: async (context, { apiVersion, kind }, admit) => {
    await admit()
    const creationTimestamp = formatRFC3339(instantFromMillis(context.receivedAt))
    return { apiVersion, kind, metadata: { creationTimestamp }, status: { userInfo: userFields(context.user) } }
  },
})
