import type { Clock, Random } from '@kubewright/base'
import type { AdmissionChain } from '../admission/admission.ts'
import type { ObjectAccess } from '../registry/object-access.ts'

/** The parts of the server that kinds use which read other objects or run admission themselves. */
export interface BuiltinParts extends ObjectAccess {
  readonly admission: AdmissionChain
  readonly clock: Clock
  readonly random: Random
}
