import type { KindFacts } from '@kubewright/api'
import type { ServedRelease } from '../codec/served-release.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { Conversion } from './conversion.ts'
import type { MutableObject } from './object.ts'
import type { ObjectCodec } from './object-codec.ts'
import type { Origin } from './origin.ts'
import type { Strategy } from './strategy.ts'
import type { Subresource } from './subresource.ts'
import type { TableDefinition } from './table-definition.ts'

/** A resource that the server serves in one version. Immutable: a change of what is served replaces the whole value. */
export interface Resource {
  /** Names, scope and schema. */
  readonly kind: KindFacts
  /** Whether the kind is built in or custom, and what differs because of it. */
  readonly origin: Origin
  /** The release of Kubernetes that the server serves. */
  readonly release: ServedRelease
  /** The group under which errors name the kind; differs from the kind's group for kinds that have moved between groups. */
  readonly errorGroup: string
  readonly serving: Serving
  /** Rules of this kind for creates, updates and deletes. */
  readonly strategy: Strategy
  readonly subresources: Readonly<Record<string, Subresource>>
  /** Answers create without storing an object, for virtual resources such as reviews. */
  readonly virtual?: VirtualCreate | undefined
  /** Computes the objects of get and list, for resources without stored objects. */
  readonly computed?: ComputedObjects | undefined
  /** Decodes bodies and gives objects their canonical forms. */
  readonly codec: ObjectCodec
  readonly storage: StorageLocation
  /** Conversion between the versions of the kind. */
  readonly conversion: Conversion
  readonly selectors: FieldSelectors
  readonly presentation: Presentation
}

/** How a resource is offered to clients. */
export interface Serving {
  readonly verbs: readonly string[]
  /** The verbs that discovery lists, where they are not those that are served. @default `verbs` */
  readonly listedVerbs?: readonly string[] | undefined
  /** Whether discovery omits the resource although it is served, as for a CRD that is not established yet. */
  readonly unlisted?: boolean | undefined
  /** A Warning for every request to this resource. */
  readonly deprecation?: string | undefined
  /** Aborted when the resource is no longer served this way; ends its watches. */
  readonly ended?: AbortSignal | undefined
}

/** Where the objects of a resource are stored. Resources with the same location are versions of one kind. */
export interface StorageLocation {
  /** Prefix of all keys, with a slash at the end, such as `/registry/apps/deployments/`. */
  readonly prefix: string
  /** The prefix in error messages, where kube-apiserver has another one than this server. @default the prefix */
  readonly reportedPrefix?: string | undefined
  /** apiVersion of the stored form. */
  readonly apiVersion: string
  readonly kind: string
  /** Whether kube-apiserver reads the objects from etcd instead of a watch cache, which reports other errors. @default false */
  readonly uncached?: boolean | undefined
}

/** The fields that field selectors may name besides metadata.name and metadata.namespace. */
export interface FieldSelectors {
  /** Reads each field from an object of the served version. */
  readonly fields: Readonly<Record<string, (object: MutableObject) => string>>
  /** The error text for any other field. @default that of kinds without field label conversion */
  readonly unknownField?: ((label: string) => string) | undefined
}

/** How objects are shown in other forms than their own. */
export interface Presentation {
  /** Columns of `kubectl get`. @default name and age */
  readonly table?: TableDefinition | undefined
  /** Turns an empty object into the one that bookmarks show. @default unchanged */
  readonly bookmark?: ((empty: MutableObject) => MutableObject) | undefined
}

/** Objects that are computed for every read. */
export interface ComputedObjects {
  list(signal: AbortSignal): Promise<readonly MutableObject[]>
  /** Undefined for a name that does not exist. */
  get(name: string, signal: AbortSignal): Promise<MutableObject | undefined>
}

/**
 * Answers a create without storing the object. The function must call `admit`, which runs validating admission, once it has checked
 * the object.
 */
export type VirtualCreate = (
  context: RequestContext,
  object: MutableObject,
  admit: () => Promise<void>,
) => Promise<MutableObject>
