import { formatLabelSelector } from '@kubewright/api'
import { type Columns, integerColumn, wideColumn } from './columns.ts'
import { asSelector, type LooseSelector } from './loose-selector.ts'

interface LooseContainer {
  readonly name?: string | null | undefined
  readonly image?: string | null | undefined
}

/** The part of a pod template that tables show. */
interface LooseTemplate {
  readonly spec?: { readonly containers?: readonly LooseContainer[] | null | undefined } | null | undefined
}

/** Names and images of the containers of a pod template, for wide output. */
export function containerColumns<O>(template: (object: O) => LooseTemplate | null | undefined): Columns<O> {
  return {
    definitions: [
      ...wideColumn('Containers', 'Names of the containers in the pod template.', () => '').definitions,
      ...wideColumn('Images', 'Images of the containers in the pod template.', () => '').definitions,
    ],
    cells: (object) => containerCells(template(object)?.spec?.containers),
  }
}

/** The names of containers and their images, each as one cell. */
export function containerCells(
  containers: readonly LooseContainer[] | null | undefined,
): [names: string, images: string] {
  const list = containers ?? []
  return [list.map(({ name }) => name ?? '').join(','), list.map(({ image }) => image ?? '').join(',')]
}

/** The label selector of a workload, for wide output. */
export function selectorColumn<O>(selector: (object: O) => LooseSelector): Columns<O> {
  return wideColumn('Selector', 'Label selector of the pods.', (object) =>
    formatLabelSelector(asSelector(selector(object))),
  )
}

interface Replicated {
  readonly spec?: { readonly replicas?: number | null | undefined } | null | undefined
  readonly status?:
    | { readonly replicas?: number | null | undefined; readonly readyReplicas?: number | null | undefined }
    | null
    | undefined
}

/** Desired, current and ready replicas of a ReplicaSet or a ReplicationController. */
export const replicaColumns: readonly Columns<Replicated>[] = [
  integerColumn('Desired', 'Number of pods that should run.', ({ spec }) => spec?.replicas ?? 0),
  integerColumn('Current', 'Number of pods that exist.', ({ status }) => status?.replicas ?? 0),
  integerColumn('Ready', 'Number of pods that are ready.', ({ status }) => status?.readyReplicas ?? 0),
]

/** Ready pods out of the desired ones, as `2/3`. */
export function readyText({ spec, status }: Replicated): string {
  return `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`
}
