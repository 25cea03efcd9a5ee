import type { KubeObject } from '@kubewright/api'

/** The content of an Event. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** CamelCase, for programs. */
  readonly reason: string
  /** For people. */
  readonly message: string
  /** The action that the component was performing. @default the reason */
  readonly action?: string | undefined
  /** The reporting component, when several share a recorder. @default the component of the recorder */
  readonly component?: string | undefined
  /**
   * The API to write the Event with. Events of `v1` have counts and times of their own, which tables and older tools
   * show; kube-controller-manager uses them.
   * @default 'events.k8s.io/v1'
   */
  readonly api?: 'events.k8s.io/v1' | 'v1' | undefined
  /** A second object that the Event is about. */
  readonly related?: KubeObject | undefined
}

/**
 * Records Events about objects. Never throws and never blocks: an Event that cannot be written is logged, counted and
 * dropped.
 */
export interface EventRecorder {
  record(regarding: KubeObject, note: EventNote): void
}
