import type { BuiltinTable } from '../builtin-resources.ts'
import { deviceClasses } from './device-class/device-class.ts'
import { resourceClaims, resourceClaimTemplates } from './resource-claim/resource-claim.ts'
import { resourceSlices } from './resource-slice/resource-slice.ts'

/** The resources of the resource.k8s.io group. */
export const resourceGroupResources: BuiltinTable = {
  'resource.k8s.io/deviceclasses': deviceClasses,
  'resource.k8s.io/resourceclaims': resourceClaims,
  'resource.k8s.io/resourceclaimtemplates': resourceClaimTemplates,
  'resource.k8s.io/resourceslices': resourceSlices,
}
