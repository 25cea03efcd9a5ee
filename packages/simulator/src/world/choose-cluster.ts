import type { Operator } from '@kubewright/runtime'
import { rulesOf } from '../plan/operator-facts.ts'

/** The parts of a cluster that matter for an operator. */
export interface ChosenCluster {
  readonly controllers: readonly string[]
  readonly nodes: number
  /** Whether the built-in controllers record Events. */
  readonly events: boolean
  /** Selects the resources that the garbage collector watches. */
  readonly collects: (resource: { readonly group: string; readonly plural: string }) => boolean
}

/** The controllers of each resource, and the resources that they use in turn. */
const uses: Readonly<
  Record<
    string,
    { readonly controllers?: readonly string[] | undefined; readonly resources?: readonly string[] | undefined }
  >
> = {
  deployments: { controllers: ['deployment-controller'], resources: ['replicasets'] },
  replicasets: { controllers: ['replicaset-controller'], resources: ['pods'] },
  replicationcontrollers: { controllers: ['replicationcontroller-controller'], resources: ['pods'] },
  statefulsets: {
    controllers: ['statefulset-controller'],
    resources: ['pods', 'persistentvolumeclaims', 'controllerrevisions'],
  },
  daemonsets: { controllers: ['daemonset-controller'], resources: ['pods', 'controllerrevisions'] },
  jobs: { controllers: ['job-controller', 'ttl-after-finished-controller'], resources: ['pods'] },
  cronjobs: { controllers: ['cronjob-controller'], resources: ['jobs'] },
  persistentvolumeclaims: {
    controllers: ['persistentvolume-binder-controller', 'persistentvolumeclaim-protection-controller'],
    resources: ['persistentvolumes'],
  },
  persistentvolumes: { controllers: ['persistentvolume-protection-controller'] },
  poddisruptionbudgets: { controllers: ['disruption-controller'] },
  horizontalpodautoscalers: { controllers: ['horizontal-pod-autoscaler-controller'] },
  endpoints: { controllers: ['endpoints-controller'] },
  endpointslices: { controllers: ['endpointslice-controller'] },
  namespaces: { controllers: ['namespace-controller', 'serviceaccount-controller'], resources: ['serviceaccounts'] },
  resourcequotas: { controllers: ['resourcequota-controller'] },
}

/** Selects the controllers and resources that an operator and its samples depend on, so that each schedule starts fast. */
export function chooseCluster(operator: Operator, samples: readonly object[]): ChosenCluster {
  const resources = new Set<string>()
  const add = (plural: string): void => {
    if (resources.has(plural)) return
    resources.add(plural)
    for (const other of uses[plural]?.resources ?? []) add(other)
  }
  let readsEvents = false
  for (const rule of rulesOf(operator)) {
    // Every operator may create Events.
    const isRead = rule.verbs.some((verb) => verb !== 'create' && verb !== 'patch')
    if (isRead && rule.resources?.includes('events')) readsEvents = true
    for (const resource of rule.resources ?? []) add(resource.replace(/\/.*/s, ''))
  }
  for (const sample of samples as readonly { readonly kind?: string | undefined }[])
    add(`${sample.kind?.toLowerCase()}s`)
  const everything = resources.has('*')
  const controllers = everything
    ? Object.values(uses).flatMap((use) => use.controllers ?? [])
    : [...resources].flatMap((plural) => uses[plural]?.controllers ?? [])
  // A built-in controller that is the operator must not run twice.
  const ownNames = new Set(operator.controllers.map(({ name }) => name))
  return {
    controllers: ['garbage-collector-controller', ...new Set(controllers)].filter((name) => !ownNames.has(name)),
    // Volumes are provisioned for nodes.
    nodes: resources.has('pods') || resources.has('persistentvolumeclaims') || everything ? 1 : 0,
    events: readsEvents || everything,
    collects: ({ plural }) => everything || resources.has(plural),
  }
}
