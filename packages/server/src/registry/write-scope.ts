import type { GroupResource } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import type { Resource } from '../resource/resource.ts'
import type { Strategy } from '../resource/strategy.ts'

/** Everything about a write besides the object itself. */
export interface WriteScope {
  readonly context: RequestContext
  readonly resource: Resource
  /** Empty for cluster-scoped resources. */
  readonly namespace: string
  /** The subresource that is written, or the empty string. */
  readonly subresource: string
  /** The strategy in force: the resource's, or that of the subresource. */
  readonly strategy: Strategy
  readonly dryRun: boolean
}

/** Group and plural of a resource, as errors name it. */
export function groupResourceOf({ kind }: Resource): GroupResource {
  return { group: kind.group, resource: kind.plural }
}
