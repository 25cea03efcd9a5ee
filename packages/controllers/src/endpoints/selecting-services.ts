import { keyOf, Selector, selectorFrom } from '@kubewright/api'
import { Pod, Service } from '@kubewright/k8s'
import { changed, kindSource, type Source } from '@kubewright/runtime'
import { isFilled } from './backends.ts'

/** The pods that a service selects. An empty selector selects all pods. */
export function podSelector({ spec }: Service): Selector {
  return spec?.selector === undefined ? Selector.nothing : selectorFrom({ matchLabels: spec.selector })
}

/** Maps pod events to the keys of the services that select the pod. */
export const podsOfServices: Source = kindSource(Pod, {
  name: 'Pod (selected)',
  predicates: [
    changed(
      'metadata.labels',
      'metadata.deletionTimestamp',
      'spec.nodeName',
      'spec.hostname',
      'spec.subdomain',
      'status',
    ),
  ],
  map: async ({ metadata: { namespace = '', labels } }, { client }) => {
    const services = await client.list(Service, { namespace })
    return services.filter((service) => isFilled(service) && podSelector(service).matches(labels)).map(keyOf)
  },
})
