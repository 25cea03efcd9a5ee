import { isDeepStrictEqual } from 'node:util'
import { Secret, type SecretDraft } from 'kubewright/k8s'
import type { SecSynch } from './sec-synch.ts'

/** What all copies are found by. */
export const copyLabels = { 'secsynch.study.dev/copy': 'true' }
const ownerAnnotation = 'secsynch.study.dev/owner'
const versionAnnotation = 'secsynch.study.dev/source-version'

/** The key of the SecSynch that a Secret is a copy for. A label could not hold it: it may be longer than 63 characters. */
export const ownerOf = ({ metadata }: Pick<SecretDraft, 'metadata'> | Secret): string | undefined =>
  metadata.labels?.['secsynch.study.dev/copy'] === 'true' ? metadata.annotations?.[ownerAnnotation] : undefined

/** Whether a copy has the content of its source. */
export const isFaithful = (copy: Secret, source: Secret): boolean =>
  copy.type === source.type && isDeepStrictEqual(copy.data ?? {}, source.data ?? {})

/** Whether a change of a copy was made by somebody else: this operator always notes which version it copied. */
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
