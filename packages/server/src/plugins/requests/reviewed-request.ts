import type { AdmissionAttributes } from '../../admission/admission.ts'
import { convertBetween } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { RecheckOptions } from '../../resource/object-codec.ts'
import type { Resource } from '../../resource/resource.ts'
import type { ResourceTable } from '../../resource/resource-table.ts'

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
  /** The old object by target resource. It does not change during admission, unlike the new one, and conversion may be expensive. */
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
      .storedUnder(resource.storage.prefix)
      .filter(
        (other) =>
          other !== resource &&
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
      attributes.object = sub.codec ? sub.codec.recheck(object, options).object : object
    } else {
      const checked = source.codec.recheck(object, options).object
      attributes.object = source === resource ? checked : await convertBetween(source, resource, checked)
    }
  }

  async #shownIn(target: Resource, object: MutableObject): Promise<MutableObject> {
    const { resource, subresource, operation } = this.attributes
    if (operation === 'CONNECT') return object
    const sub = subresource === '' ? undefined : resource.subresources[subresource]
    if (sub?.kind) return sub.codec ? sub.codec.toClientForm(object) : object
    const shown = resource.codec.toClientForm(object)
    return target === resource ? shown : convertBetween(resource, target, shown)
  }
}

/** Whether a resource is `namespaces`. */
export function isNamespaces({ kind }: Resource): boolean {
  return kind.group === '' && kind.plural === 'namespaces'
}

/** Group, version and resource of a resource. */
export function reviewResourceOf({ kind }: Resource): ReviewResource {
  return { group: kind.group, version: kind.version, resource: kind.plural }
}
