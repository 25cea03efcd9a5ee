import type { Resource } from '../../resource/resource.ts'
import { type ReviewedRequest, reviewResourceOf } from './reviewed-request.ts'

/** An AdmissionRequest without its objects, for webhooks and as the variable `request` of expressions. */
export type RequestFacts = Readonly<Record<string, unknown>>

/** Describes a request in the version of the matched resource. Empty fields are omitted, as in Go. */
export function requestFacts(request: ReviewedRequest, matched: Resource): RequestFacts {
  const { attributes } = request
  const { resource, subresource, name, operation, dryRun, context } = attributes
  const { user } = context
  return {
    kind: request.kindIn(matched),
    resource: reviewResourceOf(matched),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: request.kindIn(resource),
    requestResource: reviewResourceOf(resource),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(request.namespace === '' ? {} : { namespace: request.namespace }),
    operation,
    userInfo: {
      ...(user.name === '' ? {} : { username: user.name }),
      ...(user.uid ? { uid: user.uid } : {}),
      ...(user.groups.length > 0 ? { groups: user.groups } : {}),
      ...(Object.keys(user.extra ?? {}).length > 0 ? { extra: user.extra } : {}),
    },
    dryRun,
    options: operation === 'CONNECT' ? null : attributes.options,
  }
}
