import { gvkOf } from '@kubewright/api'
import { isJsonObject, textOf } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'

/** A JSON object that a build modifies in place. */
export type MutableObject = Record<string, unknown>

/** The identity of an object at one step of a build. */
export interface ResourceId {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/**
 * An object of a build, with the identities that it had at earlier steps. Patches select an object by any of its identities, and references
 * to an earlier name are changed to the final one.
 */
export class ResourceEntry {
  /** The file that contains the object, or the kustomization that generates it. */
  readonly file: string
  /** The earlier identities, the original one first. */
  readonly previous: ResourceId[] = []
  /** The prefixes and suffixes of the name, in the order in which they were added. */
  readonly affixes: string[] = []
  /** Whether a hash of the content is appended to the name, as for generated ConfigMaps and Secrets. */
  needsHash = false
  object: MutableObject

  constructor(object: MutableObject, file: string) {
    this.object = object
    this.file = file
  }

  get metadata(): MutableObject {
    return childObject(this.object, 'metadata')
  }

  get id(): ResourceId {
    const { name, namespace } = this.metadata
    const gvk = gvkOf(this.object as { apiVersion: string; kind: string })
    return { ...gvk, name: textOf(name), namespace: textOf(namespace) }
  }

  /** All identities, the current one last. */
  get ids(): readonly ResourceId[] {
    return [...this.previous, this.id]
  }

  get isClusterScoped(): boolean {
    // As in kustomize, only built-in kinds can be cluster-scoped: the scope of others is not known.
    return defaultRelease.kindFor(this.id)?.scope === 'Cluster'
  }

  rename(name: string): void {
    this.previous.push(this.id)
    this.metadata['name'] = name
  }

  moveTo(namespace: string): void {
    this.previous.push(this.id)
    this.metadata['namespace'] = namespace
  }
}

/** The name of an object for messages, such as `Deployment controller-manager`. */
export function describeId({ kind, namespace, name }: ResourceId): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
}

/** The object in a field, which is created if it is missing. */
export function childObject(parent: MutableObject, field: string): MutableObject {
  const child = parent[field]
  if (isJsonObject(child)) return child as MutableObject
  const created: MutableObject = {}
  parent[field] = created
  return created
}

/** Selects kinds. An empty or missing part selects all values of this part. */
export interface KindSelector {
  readonly group?: string | undefined
  readonly version?: string | undefined
  readonly kind?: string | undefined
}

/** Whether an identity has the group, version and kind of a selector. */
export function isOfKind(id: ResourceId, { group, version, kind }: KindSelector): boolean {
  return (!group || group === id.group) && (!version || version === id.version) && (!kind || kind === id.kind)
}
