import { keyOf, Selector, selectorFrom } from '@kubewright/api'
import { Pod, Service } from '@kubewright/k8s'
import { changed, or, type Source } from '@kubewright/runtime'
import { joinedSource } from '../workload/joined-source.ts'
import { isPodReady } from '../workload/pod-state.ts'
import { isFilled } from './backends.ts'

/** The pods that a service selects. An empty selector selects all pods. */
export function podSelector({ spec }: Service): Selector {
  return spec?.selector === undefined ? Selector.nothing : selectorFrom({ matchLabels: spec.selector })
}

/** Maps pod events to the keys of the services that select the pod. */
export const podsOfServices: Source = joinedSource(Pod, [Service], (cached) => ({
  name: 'Pod (selected)',
  predicates: [
    or(
      changed(
        'metadata.labels',
        'metadata.deletionTimestamp',
        'spec.hostname',
        'spec.subdomain',
        'status.phase',
        'status.podIPs',
      ),
      // Not every change of the condition: the time of a change that has no effect belongs to the next write of the endpoints.
      { update: (before, after) => isPodReady(before) !== isPodReady(after) },
    ),
  ],
  map: ({ metadata: { namespace = '', labels } }, { client }) => {
    const select = (services: readonly Service[]): string[] =>
      services.filter((service) => isFilled(service) && podSelector(service).matches(labels)).map(keyOf)
    const known = cached(Service)?.list({ namespace })
    return known === undefined ? client.list(Service, { namespace }).then(select) : select(known)
  },
}))
