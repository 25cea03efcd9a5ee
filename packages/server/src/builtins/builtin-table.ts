import { admissionregistrationResources } from './admissionregistration/admissionregistration-resources.ts'
import { apiregistrationResources } from './apiregistration/api-service/api-service.ts'
import { appsResources } from './apps/apps-resources.ts'
import { autoscalingResources } from './autoscaling/autoscaling-resources.ts'
import { batchResources } from './batch/batch-resources.ts'
import type { BuiltinTable } from './builtin-resources.ts'
import { coordinationResources } from './coordination/lease/lease.ts'
import { coreResources } from './core/core-resources.ts'
import { discoveryResources } from './discovery/endpoint-slice/endpoint-slice.ts'
import { flowcontrolResources } from './flowcontrol/flowcontrol-resources.ts'
import { networkingResources } from './networking/networking-resources.ts'
import { nodeResources } from './node/runtime-class/runtime-class.ts'
import { policyResources } from './policy/policy-resources.ts'
import { resourceGroupResources } from './resource/resource-group-resources.ts'
import { schedulingResources } from './scheduling/priority-class/priority-class.ts'
import { storageResources } from './storage/storage-resources.ts'

/**
 * The strategies, tables and selectors of the built-in resources that need no part of the server. CustomResourceDefinitions come from
 * `crd`.
 */
export const builtinTable: BuiltinTable = {
  ...coreResources,
  ...appsResources,
  ...autoscalingResources,
  ...batchResources,
  ...networkingResources,
  ...policyResources,
  ...schedulingResources,
  ...coordinationResources,
  ...discoveryResources,
  ...nodeResources,
  ...admissionregistrationResources,
  ...storageResources,
  ...flowcontrolResources,
  ...apiregistrationResources,
  ...resourceGroupResources,
}
