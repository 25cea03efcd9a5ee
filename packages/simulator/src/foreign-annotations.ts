import type { KubeObject } from '@kubewright/api'
import { objectId } from './cluster-state.ts'
import type { World } from './world.ts'

/** The annotation of another controller. It is not compared. */
const annotation = 'kubewright.test/other-controller'

/** The kinds that other controllers annotate in every cluster: those of load balancers, volumes, roll-outs and identities. */
const kinds = new Set([
  'Service',
  'Ingress',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'PersistentVolumeClaim',
  'ServiceAccount',
])

/** The annotations that other controllers add to children of the operator, and that it must keep. */
export class ForeignAnnotations {
  readonly #world: World
  /** The IDs of the annotated objects, by uid. */
  readonly #all = new Map<string, string>()

  constructor(world: World) {
    this.#world = world
  }

  /** Annotates the children of the operator. Resolves to their IDs. */
  async add(): Promise<string[]> {
    const { log, user } = this.#world
    const found: string[] = []
    for (const [id, { kind, path }] of [...log.written].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (!kinds.has(kind)) continue
      const { status, object } = await user.request('GET', path)
      if (status !== 200 || object.metadata.deletionTimestamp !== undefined) continue
      const annotations = { ...object.metadata.annotations, [annotation]: 'true' }
      const written = await user.request('PUT', path, { ...object, metadata: { ...object.metadata, annotations } })
      if (written.status !== 200) continue
      this.#all.set(object.metadata.uid, id)
      found.push(id)
    }
    return found
  }

  /** Reports the annotations that are gone, although their objects exist. */
  check(objects: readonly KubeObject[]): void {
    for (const object of objects) {
      const { uid, annotations, deletionTimestamp } = object.metadata
      if (!this.#all.has(uid) || deletionTimestamp !== undefined || annotations?.[annotation] !== undefined) continue
      this.#world.history.violate(
        'others',
        `The operator removed the annotation of another controller from ${objectId(object)}`,
      )
    }
  }
}
