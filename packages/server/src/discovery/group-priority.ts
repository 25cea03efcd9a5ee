import { compareVersionPriority } from '@kubewright/api'

/** The position of a group version in discovery. Higher groups come first, then higher versions. */
export interface Priority {
  readonly group: number
  readonly version: number
}

// The priorities of the built-in groups' APIServices (controlplane/apiserver/aggregator.go).
const builtinGroups: Readonly<Record<string, number>> = {
  'apiregistration.k8s.io': 20_000,
  '': 18_000,
  apps: 17_800,
  'events.k8s.io': 17_750,
  'authentication.k8s.io': 17_700,
  'authorization.k8s.io': 17_600,
  autoscaling: 17_500,
  batch: 17_400,
  'certificates.k8s.io': 17_300,
  'networking.k8s.io': 17_200,
  policy: 17_100,
  'rbac.authorization.k8s.io': 17_000,
  'storage.k8s.io': 16_800,
  'apiextensions.k8s.io': 16_700,
  'admissionregistration.k8s.io': 16_700,
  'scheduling.k8s.io': 16_600,
  'coordination.k8s.io': 16_500,
  'node.k8s.io': 16_300,
  'discovery.k8s.io': 16_200,
  'resource.k8s.io': 16_200,
  'flowcontrol.apiserver.k8s.io': 16_100,
  'storagemigration.k8s.io': 15_800,
}
const builtinVersions: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'resource.k8s.io/v1': 21,
}
/** The priority of custom resource groups. */
const customGroup = 1000
const customVersion = 100

/** Whether the group is a built-in one. */
export function isBuiltinGroup(group: string): boolean {
  return Object.hasOwn(builtinGroups, group)
}

/** The priority of the APIService of a local group version. */
export function priorityOf(group: string, version: string): Priority {
  const builtin = isBuiltinGroup(group) ? builtinGroups[group] : undefined
  if (builtin === undefined) return { group: customGroup, version: customVersion }
  return { group: builtin, version: builtinVersions[`${group}/${version}`] ?? 15 }
}

/** Orders the versions of a group: by priority, then stable before beta before alpha. The first one is preferred. */
export function comparePriorities(
  a: { readonly version: string; readonly priority: Priority },
  b: { readonly version: string; readonly priority: Priority },
): number {
  return b.priority.version - a.priority.version || compareVersionPriority(a.version, b.version)
}
