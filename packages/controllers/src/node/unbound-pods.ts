import type { Pod } from '@kubewright/k8s'
import { isPodTerminal } from '../workload/pod-state.ts'

/** Whether the default scheduler must bind a pod. */
export function isWaiting(pod: Pod): boolean {
  const { nodeName, schedulerName = 'default-scheduler', schedulingGates = [] } = pod.spec
  const isOurs = schedulerName === 'default-scheduler' && schedulingGates.length === 0
  return !nodeName && isOurs && pod.metadata.deletionTimestamp === undefined && !isPodTerminal(pod)
}

/**
 * The pods without a node, as pod events show them, and those of them that the next pass evaluates. A pass thus takes time for the pods that
 * it evaluates only, and not for all pods whose bindings the watch has not shown yet.
 */
export class UnboundPods {
  readonly #pods = new Map<string, Pod>()
  readonly #due = new Set<string>()
  readonly #withStatus = new Set<string>()
  /**
   * The unschedulable pods by uid, with the resource versions that were evaluated. A pod is evaluated again only when
   * resources are freed or the pod has changed.
   */
  readonly #refused = new Map<string, string>()
  /** The pods with claims that are not bound. Each pass evaluates them, because it also keeps the claims watched. */
  readonly waiting: Set<string> = new Set()
  /** The nodes on which room was made for a pod, by uid; '' for a pod that has lost its room. */
  readonly nominations: Map<string, string> = new Map()

  clear(): void {
    for (const set of [this.#pods, this.#due, this.#withStatus, this.#refused, this.waiting, this.nominations])
      set.clear()
  }

  /** Takes note of a pod from a watch event. */
  see(pod: Pod): void {
    const { uid, resourceVersion } = pod.metadata
    if (pod.spec.nodeName) {
      this.forget(uid)
      return
    }
    this.#pods.set(uid, pod)
    if (pod.status?.nominatedNodeName) this.#withStatus.add(uid)
    else this.#withStatus.delete(uid)
    if (this.#refused.get(uid) !== resourceVersion) this.#due.add(uid)
  }

  forget(uid: string): void {
    if (!this.#pods.delete(uid)) return
    for (const set of [this.#due, this.#withStatus, this.#refused, this.waiting, this.nominations]) set.delete(uid)
  }

  /** Records that a pod was found unschedulable. `pod` has the status that says so, which the watch may not have shown yet. */
  refuse(pod: Pod): void {
    const { uid, resourceVersion } = pod.metadata
    if (!this.#pods.has(uid)) return
    this.#pods.set(uid, pod)
    this.#refused.set(uid, resourceVersion)
  }

  /** Makes pods due again that were taken by a pass which failed. */
  restore(pods: readonly Pod[]): void {
    for (const { metadata } of pods) if (this.#pods.has(metadata.uid)) this.#due.add(metadata.uid)
  }

  /** Makes the refused pods due that satisfy the test. Returns whether there are any. */
  reconsider(test: (pod: Pod) => boolean = () => true): boolean {
    let found = false
    for (const uid of [...this.#refused.keys()]) {
      const pod = this.#pods.get(uid)
      if (pod === undefined || !test(pod)) continue
      this.#refused.delete(uid)
      this.#due.add(uid)
      found = true
    }
    return found
  }

  /** Records that a pod of higher priority takes the room that was made for this one, which is evaluated again. */
  loseRoom(uid: string): void {
    if (!this.#pods.has(uid)) return
    this.nominations.set(uid, '')
    this.#refused.delete(uid)
    this.#due.add(uid)
  }

  /** Removes and returns the pods to evaluate now. Those that do not satisfy the test are dropped: their next event makes them due. */
  take(test: (pod: Pod) => boolean): Pod[] {
    const taken: Pod[] = []
    for (const uid of new Set([...this.#due, ...this.waiting])) {
      const pod = this.#pods.get(uid)
      if (pod !== undefined && isWaiting(pod) && test(pod)) taken.push(pod)
    }
    this.#due.clear()
    return taken
  }

  /** The pods for which room was made on a node. */
  *nominated(): Generator<Pod> {
    for (const uid of new Set([...this.nominations.keys(), ...this.#withStatus])) {
      const pod = this.#pods.get(uid)
      if (pod !== undefined) yield pod
    }
  }

  /** The node on which room was made for a pod; '' if it has lost the room. */
  nominationOf({ metadata, status }: Pod): string | undefined {
    return this.nominations.get(metadata.uid) ?? status?.nominatedNodeName
  }
}
