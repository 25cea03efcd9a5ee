import type { ServerParts } from '../../api-server.ts'
import type { AdmissionPlugin } from '../admission.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { ObjectLookup } from './object-lookup.ts'

/** The plugins that a kube-apiserver runs unless told otherwise, in its order (kubeapiserver/options/plugins.go). */
export function builtinAdmission(parts: Pick<ServerParts, 'resources' | 'registry' | 'clock'>): AdmissionPlugin[] {
  const lookup = new ObjectLookup(parts)
  const { clock } = parts
  return [namespaceLifecycle({ lookup, clock })]
}
