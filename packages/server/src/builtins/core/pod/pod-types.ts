import type * as core from '@kubewright/k8s/core/v1'
import type { MutableMeta } from '../../../resource/object.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The spec of a pod or a pod template as a client sends it. */
export type PodSpec = Unchecked<core.PodSpec>
/** A regular, init or ephemeral container. Ephemeral containers also have `targetContainerName`. */
export type Container = Unchecked<core.Container>
/** An ephemeral container as a client sends it. */
export type EphemeralContainer = Unchecked<core.EphemeralContainer>
/** A volume of a pod as a client sends it. */
export type Volume = Unchecked<core.Volume>
/** A probe as a client sends it. */
export type Probe = Unchecked<core.Probe>
/** Requests and limits as a client sends them. */
export type ResourceRequirements = Unchecked<core.ResourceRequirements>
/** Quantities by resource. */
export type ResourceList = Record<string, string | number | undefined>
/** The security context of a container as a client sends it. */
export type SecurityContext = Unchecked<core.SecurityContext>

/** A pod template as a client sends it. */
export interface PodTemplate {
  metadata?: MutableMeta | undefined
  spec?: PodSpec | undefined
}

/** A pod as a client sends it. */
export interface PodLike {
  metadata?: MutableMeta | undefined
  spec?: PodSpec | undefined
  status?: Unchecked<core.PodStatus> | undefined
}
