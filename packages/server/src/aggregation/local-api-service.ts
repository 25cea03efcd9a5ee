import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import { priorityOf } from '../discovery/group-priority.ts'
import type { MutableObject } from '../resource/object.ts'

/** The group of APIServices, which has no APIService itself. */
export const aggregatorGroup = 'apiregistration.k8s.io'

/** Marks APIServices that the server manages: `onstart` for built-in group versions, `true` for those of custom resources. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'

/** The APIService of a group version that this server serves. */
export function localApiService(
  group: string,
  version: string,
  automanaged: 'onstart' | 'true',
  now: number,
): MutableObject {
  return {
    apiVersion: `${aggregatorGroup}/v1`,
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [automanagedLabel]: automanaged } },
    spec: localSpec(group, version),
    status: {
      conditions: [
        {
          type: 'Available',
          status: 'True',
          lastTransitionTime: formatRFC3339(instantFromMillis(now)),
          reason: 'Local',
          message: 'Local APIServices are always available',
        },
      ],
    },
  }
}

/** The spec of the APIService of a group version that this server serves. */
export function localSpec(group: string, version: string): Record<string, unknown> {
  const priority = priorityOf(group, version)
  return {
    ...(group === '' ? {} : { group }),
    version,
    groupPriorityMinimum: priority.group,
    versionPriority: priority.version,
  }
}
