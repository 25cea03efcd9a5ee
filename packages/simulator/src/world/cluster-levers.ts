import type { KubeObject } from '@kubewright/api'
import type { NodesOptions } from '@kubewright/controlplane'
import type { Child, FaultCluster, ServerAnswer } from '../define/fault-levers.ts'
import { isFinishedPod, objectId } from '../define/object-id.ts'
import type { World } from './world.ts'
import type { WrittenObject } from './write-log.ts'

const nodesPath = '/api/v1/nodes'
const classesPath = '/apis/storage.k8s.io/v1/storageclasses'

/** Kinds whose objects hold data or run once, so that an operator need not replace them. */
const untouchableKinds = new Set(['PersistentVolumeClaim', 'PersistentVolume', 'Job', 'Namespace', 'Lease', 'Event'])

/** A child with what the log knows about it. */
interface LoggedChild extends Child {
  readonly written: WrittenObject
}

/** What faults can do to children, webhooks, nodes, pods and volumes in one run. */
export class ClusterLevers implements FaultCluster {
  readonly #world: World
  #unready = 0
  #webhooksDownUntil = 0
  #isSchedulable = true

  constructor(world: World) {
    this.#world = world
  }

  /** The behaviour of containers. Read at each step of a pod. */
  get plan(): NonNullable<NodesOptions['plan']> {
    const levers = this
    return {
      get default() {
        return { ready: levers.#unready === 0 }
      },
    }
  }

  get webhooksAreDown(): boolean {
    return this.#world.now < this.#webhooksDownUntil
  }

  stopWebhooks(millis: number): void {
    this.#webhooksDownUntil = this.#world.now + millis
  }

  request(method: string, path: string, body?: object): Promise<ServerAnswer> {
    return this.#world.user.request(method, path, body)
  }

  async pastRevision(changes: number | undefined): Promise<number> {
    const { store, setup, user } = this.#world
    const revision = changes === undefined ? user.revision : (await store.revision()) - changes
    return Math.max(setup.cluster.revision, revision)
  }

  async children(): Promise<readonly LoggedChild[]> {
    const { setup, user, log, neighbors } = this.#world
    const { samples, cluster, operator } = setup
    const children: LoggedChild[] = []
    for (const id of [...log.written.keys()].sort()) {
      const written = log.written.get(id)!
      if (samples.isSubjectKind(written.kind) || untouchableKinds.has(written.kind) || neighbors.has(id)) continue
      const { status, object } = await user.request('GET', written.path)
      if (status !== 200 || object.metadata.deletionTimestamp !== undefined || isFinishedPod(object)) continue
      if ((object.metadata.ownerReferences ?? []).length === 0 && !operator.watchedKinds.has(written.kind)) continue
      const isGiven = cluster.inputs.has(object.metadata.uid) || samples.inputObjects.some((input) => input.id === id)
      children.push({ id, object, isGiven, changed: written.changed, written })
    }
    return children
  }

  async deleteChild({ id, written }: LoggedChild): Promise<void> {
    this.#world.log.data.touch(id)
    await this.#world.user.request('DELETE', `${written.path}?propagationPolicy=Background`)
  }

  async changeChild({ id, written }: LoggedChild, changed: object): Promise<boolean> {
    this.#world.log.data.touch(id)
    const { status, object } = await this.#world.user.request('PUT', written.path, changed)
    if (status >= 300) return false
    written.last = object
    return true
  }

  async makeUnready(): Promise<() => void> {
    this.#unready++
    await this.#wakePods()
    return () => {
      this.#unready--
      void this.#wakePods()
    }
  }

  async setSchedulable(isSchedulable: boolean): Promise<void> {
    const { user } = this.#world
    this.#isSchedulable = isSchedulable
    for (const { metadata } of await this.#nodes()) {
      const path = `${nodesPath}/${metadata.name}`
      const { status, object } = await user.request('GET', path)
      if (status !== 200) continue
      const { spec } = object as KubeObject & { spec?: object | undefined }
      await user.request('PUT', path, { ...object, spec: { ...spec, unschedulable: !isSchedulable } })
    }
  }

  async loseNodes(): Promise<() => Promise<void>> {
    const { user } = this.#world
    const nodes = await this.#nodes()
    for (const { metadata } of nodes) await user.request('DELETE', `${nodesPath}/${metadata.name}`)
    // As the garbage collector of pods does when a node is gone.
    for (const { metadata } of await this.#pods()) {
      await user.request(
        'DELETE',
        `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}?gracePeriodSeconds=0`,
      )
    }
    return async () => {
      for (const node of nodes) {
        const { name, labels, annotations } = node.metadata
        const { spec: before, status } = node as KubeObject & { spec?: object | undefined; status?: object | undefined }
        // The other fault may have ended meanwhile.
        const spec = { ...before, unschedulable: !this.#isSchedulable }
        const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels, annotations }, spec }
        const created = await user.request('POST', nodesPath, body)
        if (created.status !== 201) continue
        await user.request('PUT', `${nodesPath}/${name}/status`, { ...created.object, status })
        const { object } = await user.request('GET', `${nodesPath}/${name}`)
        // The admission plugin taints new nodes until their kubelet is ready.
        await user.request('PUT', `${nodesPath}/${name}`, { ...object, spec: { ...spec, taints: undefined } })
      }
    }
  }

  async stopProvisioning(): Promise<() => Promise<void>> {
    const { user } = this.#world
    const { object } = await user.request('GET', classesPath)
    const classes = (object as unknown as { items?: KubeObject[] | undefined }).items ?? []
    for (const { metadata } of classes) await user.request('DELETE', `${classesPath}/${metadata.name}`)
    return async () => {
      for (const one of classes) {
        const { name, labels, annotations } = one.metadata
        const metadata = { name, labels, annotations }
        const body = { ...one, apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata }
        await user.request('POST', classesPath, body)
      }
    }
  }

  async crashPod(pick: number): Promise<void> {
    const { history, plane } = this.#world
    const pods = (await this.#pods()).map(objectId).sort()
    const pod = pods[pick % Math.max(1, pods.length)]
    if (pod === undefined) return
    history.note('cluster', `The containers of ${pod} crash`)
    plane.controllers.nodes?.crash(pod.replace('Pod ', ''))
  }

  async #wakePods(): Promise<void> {
    const { nodes } = this.#world.plane.controllers
    // No container has this name: the pod takes its next step and nothing crashes.
    for (const pod of await this.#pods()) nodes?.crash(objectId(pod).replace('Pod ', ''), { container: '' })
  }

  async #nodes(): Promise<KubeObject[]> {
    const { object } = await this.#world.user.request('GET', nodesPath)
    return (object as unknown as { items?: KubeObject[] | undefined }).items ?? []
  }

  async #pods(): Promise<KubeObject[]> {
    return (await this.#world.objects()).filter(({ kind }) => kind === 'Pod')
  }
}
