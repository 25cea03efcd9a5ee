import type { MutableObject } from '../../resource/object.ts'
import type { BuiltinTable } from '../builtin-resources.ts'
import { controllerRevisions } from './controller-revision/controller-revision.ts'
import { daemonSets } from './daemon-set/daemon-set.ts'
import { deployments } from './deployment/deployment.ts'
import { replicaSets } from './replica-set/replica-set.ts'
import { statefulSets } from './stateful-set/stateful-set.ts'

/** The resources of the apps group. */
export const appsResources: BuiltinTable = {
  'apps/controllerrevisions': controllerRevisions,
  'apps/daemonsets': { ...daemonSets, bare: withTemplateGeneration },
  'apps/deployments': { ...deployments, bare: withReplicas },
  'apps/replicasets': { ...replicaSets, bare: withReplicas },
  'apps/statefulsets': { ...statefulSets, bare: withReplicas },
}

/** The server counts replicas in a plain number, which is never absent. */
function withReplicas(empty: MutableObject): MutableObject {
  return { ...empty, spec: { ...(empty['spec'] as object), replicas: 0 } }
}

/** The server keeps the generation of the template in a field; clients see an annotation. */
function withTemplateGeneration(empty: MutableObject): MutableObject {
  const annotations = { 'deprecated.daemonset.template.generation': '0' }
  return { ...empty, metadata: { ...empty.metadata, annotations } }
}
