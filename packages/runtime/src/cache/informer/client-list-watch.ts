import type { AnyKind, Infer, KubeObject } from '@kubewright/api'
import { type ApiClient, allNamespaces, type EncodedPage, type WatchStream } from '@kubewright/client'
import type { Absence, ListWatch } from '../reflector/list-watch.ts'
import type { InformerScope } from './shared-informer-factory.ts'

/** Tells without a request that a resource has no objects; see `ListWatch.absence`. */
export type FindAbsence = (
  resource: { readonly group: string; readonly version: string; readonly plural: string },
  signal: AbortSignal,
) => Absence | undefined

/**
 * Lists and watches one kind through a client. Supports typed, dynamic and metadata-only kinds. Objects are returned
 * encoded; stores hold their bytes and parse them on read.
 */
export function clientListWatch<K extends AnyKind>(
  client: Pick<ApiClient, 'encodedPage' | 'watch'>,
  kind: K,
  scope: InformerScope = {},
  absence?: FindAbsence,
): ListWatch<Infer<K> & KubeObject> {
  const { namespace = allNamespaces, labelSelector, fieldSelector } = scope
  const where = { namespace, selector: labelSelector, fieldSelector }
  // The client decodes objects as the kind's type, and every object has metadata.
  type T = Infer<K> & KubeObject
  return {
    async list({ resourceVersion, limit = 0, continue: token, signal }) {
      const version = resourceVersion === '' ? undefined : resourceVersion
      const options = { ...where, resourceVersion: version, pageSize: limit, continue: token, signal }
      return (await client.encodedPage(kind, options)) as EncodedPage<T>
    },
    async watch({ resourceVersion, timeoutSeconds, sendInitialEvents, signal }) {
      const version = resourceVersion === '' ? undefined : resourceVersion
      const options = { ...where, resourceVersion: version, timeoutSeconds, sendInitialEvents, signal }
      const stream = (await client.watch(kind, options)) as WatchStream<T>
      return stream.encoded()
    },
    ...(absence === undefined ? {} : { absence: (signal) => absence(kind, signal) }),
  }
}
