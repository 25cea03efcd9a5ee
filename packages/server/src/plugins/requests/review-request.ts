import type { Resource } from '../../resource/resource.ts'
import { type ReviewedRequest, reviewResourceOf } from './reviewed-request.ts'

/** An AdmissionRequest without its objects: what webhooks are sent and what expressions call `request`. */
export type RequestFacts = Readonly<Record<string, unknown>>

/** Describes a request in the version of the resource as which it was matched. Fields that are empty are left out, as in Go. */
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
