import { parseGroupVersion } from '@kubewright/api'
import type { ApiClient, DynamicKind, DynamicObject } from '@kubewright/client'
import type { Manifest } from '../manifests/manifest.ts'
import { type Color, type Paint, plain } from '../terminal/colors.ts'

/** Says which operator an object was installed for: what a later installation does not have any more is found by it. */
export const installLabel = 'kubewright.dev/install'

/** Who the API server records as the owner of what is installed. */
export const installManager = 'kubewright-install'

/** What became of an object. */
export interface ObjectChange {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly change: 'created' | 'configured' | 'unchanged' | 'deleted' | 'kept'
}

/** An object with the label of its operator. */
export function labelled(object: Manifest, operator: string): Manifest {
  const labels = { ...object.metadata.labels, [installLabel]: operator }
  return { ...object, metadata: { ...object.metadata, labels } }
}

/** The kind of an object, as the server knows it. */
export function kindOf(
  client: ApiClient,
  { apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>,
  signal?: AbortSignal,
): Promise<DynamicKind> {
  return client.kind({ ...parseGroupVersion(apiVersion), kind }, { signal })
}

/** What an object is found by. */
export function keyOf({ metadata }: Pick<Manifest | DynamicObject, 'metadata'>): {
  name: string
  namespace?: string | undefined
} {
  return { name: metadata.name, namespace: metadata.namespace }
}

/** What became of an object, by its names. */
export function changeOf(
  { apiVersion, kind, metadata }: Pick<Manifest | DynamicObject, 'apiVersion' | 'kind' | 'metadata'>,
  change: ObjectChange['change'],
): ObjectChange {
  const { namespace, name } = metadata
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name, change }
}

/** A change in the words of kubectl. */
export function changeText(
  { apiVersion, kind, name, change }: ObjectChange,
  suffix = '',
  paint: Paint = plain,
): string {
  const { group } = parseGroupVersion(apiVersion)
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${name} ${paint(colors[change], change)}${suffix}`
}

const colors: Readonly<Record<ObjectChange['change'], Color>> = {
  created: 'green',
  configured: 'yellow',
  unchanged: 'grey',
  deleted: 'red',
  kept: 'yellow',
}
