import { type Clock, VirtualClock } from '@kubewright/base'
import type { SimulatedNodes } from '@kubewright/controllers'
import { type FaultTarget, RequestFaults, type WriteFault } from './request-faults.ts'

/**
 * Causes trouble in a control plane on demand, for development and demonstrations. Faults apply to the requests of
 * clients, except those of the built-in controllers and of clients with `isExempt`.
 */
export interface ControlPlaneLevers {
  /** Crashes the containers of a pod, named `namespace/name`. Absent without simulated nodes. */
  readonly crashPod?: ((pod: string) => void) | undefined
  /** The writes that will fail. */
  readonly faults: readonly WriteFault[]
  /** Fails the next writes of a resource, dry runs excepted. `status` is 403, 409, 429, 500, 503 or 504. */
  failWrites(fault: FaultTarget & { readonly status: number; readonly count: number }): void
  /** Removes a fault by its `id`. */
  disarm(id: number): void
  /** Breaks the connections of all watches of a resource. Returns their number. */
  cutWatches(target: FaultTarget): number
  /** Virtual time; absent where time is real. */
  readonly time?: VirtualTime | undefined
  /** Calls the listener after every change of `faults` and of virtual time. */
  listen(listener: () => void): Disposable
}

/** The time of a control plane that runs on a {@link VirtualClock}. */
export interface VirtualTime {
  /** Milliseconds since the epoch. */
  now(): number
  advance(millis: number): Promise<void>
}

/** The levers of a control plane, and the faults that its handlers must apply. */
export function createLevers(
  clock: Clock,
  nodes: () => SimulatedNodes | undefined,
): { readonly levers: ControlPlaneLevers; readonly faults: RequestFaults } {
  const listeners = new Set<() => void>()
  const changed = (): void => {
    for (const listener of [...listeners]) listener()
  }
  const faults = new RequestFaults(changed)
  const levers: ControlPlaneLevers = {
    get crashPod() {
      const simulated = nodes()
      return simulated && ((pod: string) => simulated.crash(pod))
    },
    get faults() {
      return faults.armed
    },
    failWrites: (fault) => faults.failWrites(fault),
    disarm: (id) => faults.disarm(id),
    cutWatches: (target) => faults.cutWatches(target),
    ...(clock instanceof VirtualClock
      ? {
          time: {
            now: () => clock.now(),
            advance: async (millis) => {
              await clock.advance(millis)
              changed()
            },
          },
        }
      : {}),
    listen: (listener) => {
      const own = (): void => listener()
      listeners.add(own)
      return { [Symbol.dispose]: () => void listeners.delete(own) }
    },
  }
  return { levers, faults }
}
