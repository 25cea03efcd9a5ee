import type { NodeConnector } from '@kubewright/api'
import type { Clock, Logger, Random } from '@kubewright/base'
import type { AdmissionChain } from '../admission/admission.ts'
import type { AttachedAccess } from '../auth/access-control.ts'
import type { ServedRelease } from '../codec/served-release.ts'
import type { KubeletConnections } from '../proxy/kubelet-connections.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { Conversion } from '../resource/conversion.ts'
import type {
  ComputedObjects,
  FieldSelectors,
  Presentation,
  StorageLocation,
  VirtualCreate,
} from '../resource/resource.ts'
import type { Strategy } from '../resource/strategy.ts'
import type { Subresource } from '../resource/subresource.ts'
import type { TableDefinition } from '../resource/table-definition.ts'
import type { ComponentChecks } from './core/component-status/component-checks.ts'
import type { ServiceRanges } from './core/service/service-allocator.ts'

/** Everything about a built-in resource that does not follow from its schema and from discovery. */
export interface BuiltinBehavior {
  /** Names, defaults, validation and deletion. @default the rules of kube-apiserver's generic registry */
  readonly strategy?: Strategy | undefined
  /**
   * Subresources by name. Of those that discovery lists and that are missing here, `status` and `scale` follow the rules that most kinds
   * share.
   */
  readonly subresources?: Readonly<Record<string, Subresource>> | undefined
  /** The columns of `kubectl get`. @default name and creation time */
  readonly table?: TableDefinition | undefined
  /** Fields that field selectors may name besides metadata.name and metadata.namespace. */
  readonly selectableFields?: FieldSelectors['fields'] | undefined
  readonly unknownField?: FieldSelectors['unknownField'] | undefined
  /** The group that errors name. @default the kind's group */
  readonly errorGroup?: string | undefined
  /** Prefix of storage keys below /registry/, with a slash at the end. @default the plural */
  readonly storagePath?: string | undefined
  /** See {@link StorageLocation.reportedPrefix}. */
  readonly reportedPrefix?: string | undefined
  /** See {@link StorageLocation.uncached}. */
  readonly uncached?: boolean | undefined
  readonly conversion?: Conversion | undefined
  /** See {@link Presentation.bookmark}. */
  readonly bookmark?: Presentation['bookmark'] | undefined
  /** The text of a Warning in every response. */
  readonly deprecation?: string | undefined
  /** Answers a create without storing the object. */
  readonly virtual?: VirtualCreate | undefined
  /** Computes the objects of get and list, which are not stored. */
  readonly computed?: ComputedObjects | undefined
}

/** The parts of a running server that some resources need. */
export interface BuiltinServer extends ObjectAccess {
  readonly admission: AdmissionChain
  readonly clock: Clock
  readonly random: Random
  /** @default no logs */
  readonly log?: Logger | undefined
  /** Aborts when the server is disposed. */
  readonly signal?: AbortSignal | undefined
  /** Access control. Without it, the server issues no tokens, answers no reviews, and RBAC does not prevent privilege escalation. */
  readonly access?: AttachedAccess | undefined
  /** The simulated nodes. @default none */
  readonly nodes?: NodeConnector | undefined
  /** Connections to the kubelets of all other nodes. @default with the default options */
  readonly kubelets?: KubeletConnections | undefined
  readonly serviceRanges?: ServiceRanges | undefined
  /** The components of the control plane that run in this process. @default none */
  readonly components?: ComponentChecks | undefined
}

/** A built-in resource. The folder of a kind exports one definition per resource, and `builtins.ts` lists them all. */
export interface BuiltinDefinition extends BuiltinBehavior {
  /** API group; the empty string is the core group. */
  readonly group: string
  /** Plural name, as in request paths. */
  readonly resource: string
  /** The only version that the definition applies to. @default every version that has no definition of its own */
  readonly version?: string | undefined
  /** Behaviour that depends on the release of Kubernetes. Its fields replace those of the definition. */
  readonly withRelease?: ((release: ServedRelease) => BuiltinBehavior) | undefined
  /**
   * Behaviour that needs the running server, such as the allocation of addresses. It is called once, when the server starts. Its fields
   * replace those of the definition; subresources are joined.
   */
  readonly withServer?: ((server: BuiltinServer) => BuiltinBehavior) | undefined
}

/** Defines a built-in resource. */
export function defineBuiltin(definition: BuiltinDefinition): BuiltinDefinition {
  return definition
}
