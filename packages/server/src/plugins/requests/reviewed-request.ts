import { type AnyKind, encodeJson } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { kindFor } from '@kubewright/k8s/all'
import type { AdmissionAttributes } from '../../admission/admission.ts'
import { normalizeTyped, recheckTyped } from '../../builtins/typed/decode-typed.ts'
import type { RecheckOptions } from '../../resource/decoding.ts'
import type { MutableObject } from '../../resource/object.ts'
import { readStoredObject } from '../../resource/read-stored.ts'
import type { Resource } from '../../resource/resource.ts'
import type { ResourceTable } from '../../resource/resource-table.ts'
import { encodeStored, StoredObject } from '../../resource/stored-object.ts'
import type { Subresource } from '../../resource/subresource.ts'

/** Group, version and kind in the format of reviews. */
export interface ReviewKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Group, version and resource in the format of reviews. */
export interface ReviewResource {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** The objects of a request converted to one version; null when there is none. */
export interface ReviewedObjects {
  readonly object: MutableObject | null
  readonly oldObject: MutableObject | null
}

/** A request as webhooks and policies see it: converted to the version that they match. */
export class ReviewedRequest {
  readonly attributes: AdmissionAttributes
  readonly #resources: ResourceTable
  readonly #old = new Map<Resource, MutableObject | null>()

  constructor(attributes: AdmissionAttributes, resources: ResourceTable) {
    this.attributes = attributes
    this.#resources = resources
  }

  /** The namespace of the request. A request for a namespace object has its name. */
  get namespace(): string {
    const { resource, namespace, name, object } = this.attributes
    return isNamespaces(resource) ? name || (object?.metadata?.name ?? '') : namespace
  }

  /** The kind of the request in the version of an equivalent resource. */
  kindIn({ kind, subresources }: Resource): ReviewKind {
    const { operation, object, subresource } = this.attributes
    if (operation === 'CONNECT' && object) {
      const [version = '', group = ''] = object.apiVersion.split('/').reverse()
      return { group, version, kind: object.kind }
    }
    const { group, version, kind: name } = (subresource === '' ? undefined : subresources[subresource]?.kind) ?? kind
    return { group, version, kind: name }
  }

  /** The other versions of the resource that have the same subresource and storage location. */
  equivalents(): Resource[] {
    const { resource, subresource } = this.attributes
    return this.#resources
      .all()
      .filter(
        (other) =>
          other !== resource &&
          other.storage.prefix === resource.storage.prefix &&
          (other.kind.group !== resource.kind.group || other.kind.version !== resource.kind.version) &&
          (subresource === '' || other.subresources[subresource] !== undefined),
      )
  }

  /** The current objects in the version of an equivalent resource. */
  async objectsIn(target: Resource): Promise<ReviewedObjects> {
    const { object, old } = this.attributes
    let oldObject = this.#old.get(target)
    if (oldObject === undefined) {
      oldObject = old ? await this.#shownIn(target, old) : null
      this.#old.set(target, oldObject)
    }
    return { object: object ? await this.#shownIn(target, object) : null, oldObject }
  }

  /** Sets the object of the request from an object in the version of an equivalent resource. Throws an Error when it is invalid. */
  async replaceObject(source: Resource, object: MutableObject): Promise<void> {
    const { attributes } = this
    const { resource, subresource, operation } = attributes
    const options: RecheckOptions = { strict: false, source: 'json' }
    const sub = subresource === '' ? undefined : source.subresources[subresource]
    if (operation === 'CONNECT') attributes.object = object
    else if (sub?.kind) {
      const kind = builtInKind(source, sub)
      const { recheck = kind && ((candidate) => recheckTyped(kind, {}, candidate, options)) } = sub
      attributes.object = recheck ? recheck(object, options).object : object
    } else {
      const checked = source.recheck?.(object, options).object ?? object
      attributes.object = source === resource ? checked : await converted(source, resource, checked)
    }
  }

  async #shownIn(target: Resource, object: MutableObject): Promise<MutableObject> {
    const { resource, subresource, operation } = this.attributes
    if (operation === 'CONNECT') return object
    const sub = subresource === '' ? undefined : resource.subresources[subresource]
    if (sub?.kind) {
      const kind = builtInKind(resource, sub)
      return sub.normalize?.(object, true) ?? (kind ? normalizeTyped(kind, object, true) : object)
    }
    const shown = resource.normalize?.(object, true) ?? object
    return target === resource ? shown : converted(resource, target, shown)
  }
}

/** The kind of a built-in subresource. */
function builtInKind({ origin }: Resource, { kind }: Subresource): AnyKind | undefined {
  return origin.hasGoTypes && kind ? kindFor(kind) : undefined
}

/** Whether a resource is `namespaces`. */
export function isNamespaces({ kind }: Resource): boolean {
  return kind.group === '' && kind.plural === 'namespaces'
}

/** Group, version and resource of a resource. */
export function reviewResourceOf({ kind }: Resource): ReviewResource {
  return { group: kind.group, version: kind.version, resource: kind.plural }
}

/** Converts an object to another version by way of its storage version. */
async function converted(from: Resource, to: Resource, object: MutableObject): Promise<MutableObject> {
  const { resourceVersion } = object.metadata
  const copy = deepCopy(object) as MutableObject
  const stored = from.versioned
    ? await from.versioned.toStorage(copy)
    : from.convert
      ? from.convert.toStorage(copy)
      : { ...copy, apiVersion: from.storage.apiVersion, kind: from.storage.kind }
  let result: MutableObject
  if (to.versioned) {
    const revision = Number(resourceVersion ?? 0)
    result = (await readStoredObject(to, new StoredObject('', revision, encodeStored(stored, encodeJson)))).copy()
  } else if (to.convert) result = to.convert.fromStorage(stored)
  else result = { ...stored, apiVersion: to.kind.apiVersion, kind: to.kind.kind }
  if (resourceVersion === undefined) delete result.metadata.resourceVersion
  else result.metadata.resourceVersion = resourceVersion
  return result
}
