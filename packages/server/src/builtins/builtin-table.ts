import { appsResources } from './apps/apps-resources.ts'
import { autoscalingResources } from './autoscaling/autoscaling-resources.ts'
import { batchResources } from './batch/batch-resources.ts'
import type { BuiltinTable } from './builtin-resources.ts'

/** What each built-in resource adds: strategies, tables, selectors. */
export const builtinTable: BuiltinTable = {
  ...appsResources,
  ...autoscalingResources,
  ...batchResources,
}
