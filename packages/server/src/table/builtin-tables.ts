import type { TableDefinition } from '../resource/table-definition.ts'
import { admissionRegistrationTables } from './printers/admission-registration.ts'
import { appsTables } from './printers/apps.ts'
import { autoscalingTables } from './printers/autoscaling.ts'
import { batchTables } from './printers/batch.ts'
import { certificatesTables } from './printers/certificates.ts'
import { clusterServiceTables } from './printers/cluster-services.ts'
import { configTables } from './printers/core-config.ts'
import { nodeTables } from './printers/core-nodes.ts'
import { podTables } from './printers/core-pods.ts'
import { serviceTables } from './printers/core-services.ts'
import { volumeTables } from './printers/core-volumes.ts'
import { eventTables } from './printers/events.ts'
import { flowControlTables } from './printers/flow-control.ts'
import { networkingTables } from './printers/networking.ts'
import { policyTables } from './printers/policy.ts'
import { rbacTables } from './printers/rbac.ts'
import { resourceClaimTables } from './printers/resource-claims.ts'
import { storageTables } from './printers/storage.ts'

/**
 * The tables of built-in resources by `group/plural` (`/pods` for the core group), with the columns and cells of
 * pkg/printers/internalversion. A resource that is missing here has the default table, as in the real server.
 */
export const builtinTables: Readonly<Record<string, TableDefinition>> = {
  ...configTables,
  ...nodeTables,
  ...podTables,
  ...serviceTables,
  ...volumeTables,
  ...eventTables,
  ...appsTables,
  ...batchTables,
  ...autoscalingTables,
  ...networkingTables,
  ...storageTables,
  ...rbacTables,
  ...policyTables,
  ...admissionRegistrationTables,
  ...certificatesTables,
  ...clusterServiceTables,
  ...flowControlTables,
  ...resourceClaimTables,
}
