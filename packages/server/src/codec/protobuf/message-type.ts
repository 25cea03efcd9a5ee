import { parseGroupVersion } from '@kubewright/api'
import type { Release } from '@kubewright/k8s/releases'
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

/** The protobuf messages of a release. */
export class MessageTypes {
  readonly #release: Release
  readonly #known = new Map<string, MessageType>()

  constructor(release: Release) {
    this.#release = release
  }

  /** The message of a kind, or undefined for kinds without protobuf form, such as custom resources and tables. */
  find(apiVersion: string, kind: string): MessageType | undefined {
    const key = `${apiVersion}/${kind}`
    const known = this.#known.get(key)
    if (known) return known
    const found = this.#search(apiVersion, kind)
    // Unknown kinds are not cached, because clients choose their names.
    if (found) this.#known.set(key, found)
    return found
  }

  #search(apiVersion: string, kind: string): MessageType | undefined {
    const { group, version } = parseGroupVersion(apiVersion)
    if (group === 'meta.k8s.io') return partialObject(kind, version)
    const own = this.#builtinType(group, version, kind)
    if (own) return { type: own }
    const item = kind.endsWith('List') ? this.#builtinType(group, version, kind.slice(0, -4)) : undefined
    if (item) return { type: item, list: plainList }
    // Every group has DeleteOptions in its own version, and discovery of the core group omits the version.
    return metaKinds.has(kind) && (version === '' || apiVersion === 'v1' || kind === 'DeleteOptions')
      ? { type: `meta/v1.${kind}` }
      : undefined
  }

  #builtinType(group: string, version: string, kind: string): string | undefined {
    return this.#release.kindFor({ group, version, kind }) && goTypeOfKind(group, version, kind)
  }
}

function partialObject(kind: string, version: string): MessageType | undefined {
  const type = 'meta/v1.PartialObjectMetadata'
  if (kind === 'PartialObjectMetadata') return { type }
  if (kind === 'PartialObjectMetadataList') return { type, list: version === 'v1beta1' ? oldList : plainList }
  return undefined
}

const metaKinds = new Set(['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList', 'DeleteOptions'])
