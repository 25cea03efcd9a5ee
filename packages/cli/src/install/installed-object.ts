import { parseGroupVersion } from '@kubewright/api'
import type { ApiClient, DynamicKind, DynamicObject } from '@kubewright/client'
import type { Manifest } from '../manifests/manifest.ts'
import { type Color, type Paint, plain } from '../terminal/colors.ts'

/** The label that names the operator of an installed object. Later installations find outdated objects by it. */
export const installLabel = 'kubewright.dev/install'

/** The field manager of installed objects. */
export const installManager = 'kubewright-install'

/** The effect of a command on an object. */
export interface ObjectChange {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string | undefined
  readonly name: string
  readonly change: 'created' | 'configured' | 'unchanged' | 'deleted' | 'kept' | 'restored'
}

/** Adds the label of the operator to an object. */
export function labelled(object: Manifest, operator: string): Manifest {
  const labels = { ...object.metadata.labels, [installLabel]: operator }
  return { ...object, metadata: { ...object.metadata, labels } }
}

/** Resolves the kind of an object by discovery. */
export function kindOf(
  client: ApiClient,
  { apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>,
  signal?: AbortSignal,
): Promise<DynamicKind> {
  return client.kind({ ...parseGroupVersion(apiVersion), kind }, { signal })
}

/** The name and namespace of an object. */
export function keyOf({ metadata }: Pick<Manifest | DynamicObject, 'metadata'>): {
  name: string
  namespace?: string | undefined
} {
  return { name: metadata.name, namespace: metadata.namespace }
}

/** Records the effect on an object. */
export function changeOf(
  { apiVersion, kind, metadata }: Pick<Manifest | DynamicObject, 'apiVersion' | 'kind' | 'metadata'>,
  change: ObjectChange['change'],
): ObjectChange {
  const { namespace, name } = metadata
  return { apiVersion, kind, ...(namespace === undefined ? {} : { namespace }), name, change }
}

/** An effect in the format of kubectl. */
export function changeText(object: ObjectChange, suffix = '', paint: Paint = plain): string {
  const { name, change } = object
  return `${changeName({ ...object, metadata: { name } })} ${paint(colors[change], change)}${suffix}`
}

/** An object in the format of kubectl: `deployment.apps/web`. */
export function changeName({ apiVersion, kind, metadata }: Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'>): string {
  const { group } = parseGroupVersion(apiVersion)
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${metadata.name}`
}

const colors: Readonly<Record<ObjectChange['change'], Color>> = {
  created: 'green',
  configured: 'yellow',
  unchanged: 'grey',
  deleted: 'red',
  kept: 'yellow',
  restored: 'yellow',
}
