import type { BuiltinTable } from '../builtin-resources.ts'
import { controllerRevisions } from './controller-revision.ts'
import { daemonSets } from './daemon-set.ts'
import { deployments } from './deployment.ts'
import { replicaSets } from './replica-set.ts'
import { statefulSets } from './stateful-set.ts'

/** The resources of the apps group. */
export const appsResources: BuiltinTable = {
  'apps/controllerrevisions': controllerRevisions,
  'apps/daemonsets': daemonSets,
  'apps/deployments': deployments,
  'apps/replicasets': replicaSets,
  'apps/statefulsets': statefulSets,
}
