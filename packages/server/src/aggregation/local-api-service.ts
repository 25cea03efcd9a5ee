import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import { priorityOf } from '../discovery/group-priority.ts'
import type { MutableObject } from '../resource/object.ts'

/** The group that needs no APIService, because it is what serves them. */
export const aggregatorGroup = 'apiregistration.k8s.io'

/** Says that the server looks after an APIService: from its start on, or as long as a custom resource needs it. */
export const automanagedLabel = 'kube-aggregator.kubernetes.io/automanaged'

/** The APIService of a group version that the server serves itself. */
export function localApiService(
  group: string,
  version: string,
  automanaged: 'onstart' | 'true',
  now: number,
): MutableObject {
  const priority = priorityOf(group, version)
  return {
    apiVersion: `${aggregatorGroup}/v1`,
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels: { [automanagedLabel]: automanaged } },
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    },
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
