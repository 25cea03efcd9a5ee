import type { KubeObject } from '@kubewright/api'
import type { NodesOptions } from '@kubewright/controlplane'
import { objectId } from './cluster-state.ts'
import type { World } from './world.ts'

const nodesPath = '/api/v1/nodes'
const classesPath = '/apis/storage.k8s.io/v1/storageclasses'

/** The faults of nodes, pods and volumes in one run. */
export class ClusterFaults {
  readonly #world: World
  #unready = 0
  #isSchedulable = true

  constructor(world: World) {
    this.#world = world
  }

  /** The behaviour of containers. Read at each step of a pod. */
  get plan(): NonNullable<NodesOptions['plan']> {
    const faults = this
    return {
      get default() {
        return { ready: faults.#unready === 0 }
      },
    }
  }

  /** Makes all containers unready, until the returned function is called. */
  async makeUnready(): Promise<() => void> {
    this.#unready++
    await this.#wakePods()
    return () => {
      this.#unready--
      void this.#wakePods()
    }
  }

  /** Sets whether new pods can be scheduled. */
  async setSchedulable(isSchedulable: boolean): Promise<void> {
    const { user } = this.#world
    this.#isSchedulable = isSchedulable
    for (const { metadata } of await this.#nodes()) {
      const path = `${nodesPath}/${metadata.name}`
      const { status, object } = await user.request('GET', path)
      if (status !== 200) continue
      const { spec } = object as KubeObject & { spec?: object }
      await user.request('PUT', path, { ...object, spec: { ...spec, unschedulable: !isSchedulable } })
    }
  }

  /** Removes the nodes with their pods. The returned function registers them again. */
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
        const { spec: before, status } = node as KubeObject & { spec?: object; status?: object }
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

  /** Removes the storage classes, so that volumes are not provisioned. The returned function restores them. */
  async stopProvisioning(): Promise<() => Promise<void>> {
    const { user } = this.#world
    const { object } = await user.request('GET', classesPath)
    const classes = (object as unknown as { items?: KubeObject[] }).items ?? []
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

  /** Crashes the containers of a pod. */
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
    return (object as unknown as { items?: KubeObject[] }).items ?? []
  }

  async #pods(): Promise<KubeObject[]> {
    return (await this.#world.objects()).filter(({ kind }) => kind === 'Pod')
  }
}
