import type { AnyKind, Infer, KubeObject } from '@kubewright/api'
import { type ApiClient, allNamespaces } from '@kubewright/client'
import type { ListPage, ListWatch } from '../cache/list-watch.ts'
import type { InformerScope } from '../cache/shared-informer-factory.ts'

/** Access of a reflector to one kind through a client. Typed, dynamic and metadata-only kinds all work. */
export function clientListWatch<K extends AnyKind>(
  client: Pick<ApiClient, 'pages' | 'watch'>,
  kind: K,
  scope: InformerScope = {},
): ListWatch<Infer<K> & KubeObject> {
  const { namespace = allNamespaces, labelSelector, fieldSelector } = scope
  const where = { namespace, selector: labelSelector, fieldSelector }
  return {
    async list({ resourceVersion, limit = 0, continue: token, signal }) {
      const version = resourceVersion === '' ? undefined : resourceVersion
      const options = { ...where, resourceVersion: version, pageSize: limit, continue: token, signal }
      for await (const page of client.pages(kind, options)) return page as ListPage<Infer<K> & KubeObject>
      // Every list has a first page.
      return { items: [], resourceVersion }
    },
    async watch({ resourceVersion, timeoutSeconds, sendInitialEvents, signal }) {
      const version = resourceVersion === '' ? undefined : resourceVersion
      const options = { ...where, resourceVersion: version, timeoutSeconds, sendInitialEvents, signal }
      const stream = await client.watch(kind, options)
      return stream.batches()
    },
  }
}
