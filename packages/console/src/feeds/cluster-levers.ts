import type { ResourceName } from '../wire/names.ts'

/** Causes trouble in a simulated cluster. The levers of an embedded control plane have this form. */
export interface ClusterLevers {
  /** Crashes the containers of a pod, named `namespace/name`. @default pods cannot be crashed */
  readonly crashPod?: ((pod: string) => void) | undefined
  /** The writes that will fail. */
  readonly faults: readonly {
    readonly id: number
    readonly group: string
    readonly plural: string
    readonly status: number
    readonly remaining: number
  }[]
  /** Fails the next writes of a resource. Throws for a status that it does not support. */
  failWrites(fault: Omit<ResourceName, 'version'> & { readonly status: number; readonly count: number }): void
  disarm(id: number): void
  /** Breaks the connections of all watches of a resource. Returns their number. */
  cutWatches(target: Omit<ResourceName, 'version'>): number
  /** Virtual time. @default time is real */
  readonly time?: { now(): number; advance(millis: number): Promise<void> } | undefined
  /** Calls the listener after every change. */
  listen(listener: () => void): Disposable
}
