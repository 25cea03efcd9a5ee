import { isDeepStrictEqual } from 'node:util'
import { Secret, type SecretDraft } from 'kubewright/k8s'
import type { SecSynch } from './sec-synch.ts'

/** The labels of all copies. */
export const copyLabels = { 'secsynch.study.dev/copy': 'true' }
const ownerAnnotation = 'secsynch.study.dev/owner'
const versionAnnotation = 'secsynch.study.dev/source-version'

/**
 * The key of the SecSynch that owns a copy. Stored in an annotation, because it may exceed the 63 characters of a
 * label.
 */
export const ownerOf = ({ metadata }: Pick<SecretDraft, 'metadata'> | Secret): string | undefined =>
  metadata.labels?.['secsynch.study.dev/copy'] === 'true' ? metadata.annotations?.[ownerAnnotation] : undefined

/** Whether a copy has the contents of its source. */
export const isFaithful = (copy: Secret, source: Secret): boolean =>
  copy.type === source.type && isDeepStrictEqual(copy.data ?? {}, source.data ?? {})

/** Whether another writer changed a copy. The operator always updates the recorded source version when it writes. */
export const isForeignChange = (before: Secret, after: Secret): boolean =>
  before.metadata.annotations?.[versionAnnotation] === after.metadata.annotations?.[versionAnnotation] &&
  !(isFaithful(before, after) && ownerOf(before) === ownerOf(after))

export const copyFor = (synch: SecSynch, source: Secret, namespace: string) =>
  Secret({
    metadata: {
      name: source.metadata.name,
      namespace,
      labels: copyLabels,
      annotations: {
        [ownerAnnotation]: `${synch.metadata.namespace}/${synch.metadata.name}`,
        [versionAnnotation]: source.metadata.resourceVersion,
      },
    },
    type: source.type,
    data: source.data,
  })
