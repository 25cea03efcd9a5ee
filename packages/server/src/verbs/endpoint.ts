import type { GroupResource, KindFacts } from '@kubewright/api'
import type { AdmissionChain } from '../admission/admission.ts'
import type { ServedRelease } from '../codec/served-release.ts'
import type { ObjectRegistry } from '../registry/object-registry.ts'
import { groupResourceOf } from '../registry/write-scope.ts'
import type { ObjectCodec } from '../resource/object-codec.ts'
import type { Resource } from '../resource/resource.ts'
import type { Strategy } from '../resource/strategy.ts'
import type { Subresource } from '../resource/subresource.ts'
import { FieldTracker } from './write/field-tracker.ts'

/** A resource, or one of its subresources, with everything that the verbs need to serve it. */
export class Endpoint {
  readonly registry: ObjectRegistry
  readonly admission: AdmissionChain
  readonly resource: Resource
  /** The empty string for the resource itself. */
  readonly subresource: string
  /** Group and plural, as errors name the resource. */
  readonly groupResource: GroupResource
  /** The kind that clients send and receive, and its codec: the resource's, or those of a subresource such as scale. */
  readonly kind: KindFacts
  readonly codec: ObjectCodec
  /** Whether that kind is a Go struct in kube-apiserver. */
  readonly hasGoType: boolean
  readonly release: ServedRelease
  readonly strategy: Strategy
  readonly view: Subresource['view']
  readonly applyProblems: Subresource['applyProblems']
  readonly fields: FieldTracker

  constructor(parts: { registry: ObjectRegistry; admission: AdmissionChain; resource: Resource; subresource: string }) {
    const { resource, subresource } = parts
    const sub = subresource === '' ? undefined : resource.subresources[subresource]
    this.registry = parts.registry
    this.admission = parts.admission
    this.resource = resource
    this.subresource = subresource
    this.groupResource = groupResourceOf(resource)
    this.kind = sub?.kind ?? resource.kind
    this.codec = sub?.codec ?? resource.codec
    this.release = resource.release
    this.hasGoType = resource.origin.hasGoTypes || sub?.kind !== undefined
    this.strategy = sub?.strategy ?? resource.strategy
    this.view = sub?.view
    this.applyProblems = sub?.applyProblems
    this.fields = new FieldTracker(this)
  }
}
