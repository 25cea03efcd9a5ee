import type { KubeObject } from '@kubewright/api'

/** A state of an object in a simulation. */
export interface SimulatedState {
  /** Milliseconds of virtual time since the start. */
  readonly time: number
  /** The object; its last state if it was deleted. */
  readonly object: KubeObject
  readonly isDeleted: boolean
}

/** One line of a story. */
export interface TimelineEntry {
  /** Milliseconds of virtual time since the start. */
  readonly time: number
  readonly actor: 'user' | 'operator' | 'cluster' | 'fault' | 'oracle'
  readonly text: string
  /** The line of the operator's source that sent the request. */
  readonly source?: string | undefined
}
