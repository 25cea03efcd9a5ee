import { parseGroupVersion } from '@kubewright/api'
import { kindFor } from '@kubewright/k8s/all'
import { goTypeOfKind } from '../go-declarations.ts'

/** The protobuf message of an apiVersion and kind. */
export interface MessageType {
  /** The Go type of the object, or of the items of the list. */
  readonly type: string
  /** The field numbers of a list's metadata and items. */
  readonly list?: { readonly metadata: number; readonly items: number } | undefined
}

const plainList = { metadata: 1, items: 2 }
// meta/v1beta1 has the numbers swapped.
const oldList = { metadata: 2, items: 1 }

const known = new Map<string, MessageType | undefined>()

/** The message of a kind, or undefined for kinds without protobuf form, such as custom resources and tables. */
export function messageType(apiVersion: string, kind: string): MessageType | undefined {
  const key = `${apiVersion}/${kind}`
  if (known.has(key)) return known.get(key)
  const found = findType(apiVersion, kind)
  // Unknown kinds are not cached, because clients choose their names.
  if (found) known.set(key, found)
  return found
}

function findType(apiVersion: string, kind: string): MessageType | undefined {
  const { group, version } = parseGroupVersion(apiVersion)
  if (group === 'meta.k8s.io') return partialObject(kind, version)
  const own = builtinType(group, version, kind)
  if (own) return { type: own }
  const item = kind.endsWith('List') ? builtinType(group, version, kind.slice(0, -4)) : undefined
  if (item) return { type: item, list: plainList }
  // Every group has DeleteOptions in its own version, and discovery of the core group omits the version.
  return metaKinds.has(kind) && (version === '' || apiVersion === 'v1' || kind === 'DeleteOptions')
    ? { type: `meta/v1.${kind}` }
    : undefined
}

function partialObject(kind: string, version: string): MessageType | undefined {
  const type = 'meta/v1.PartialObjectMetadata'
  if (kind === 'PartialObjectMetadata') return { type }
  if (kind === 'PartialObjectMetadataList') return { type, list: version === 'v1beta1' ? oldList : plainList }
  return undefined
}

function builtinType(group: string, version: string, kind: string): string | undefined {
  return kindFor({ group, version, kind }) && goTypeOfKind(group, version, kind)
}

const metaKinds = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList', 'DeleteOptions'])
