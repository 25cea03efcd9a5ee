import type { KubeObject } from '@kubewright/api'

/** What an Event says. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** CamelCase, for machines. */
  readonly reason: string
  /** For people. */
  readonly message: string
  /** What was being done when it happened. @default the reason */
  readonly action?: string
  /** Who reports, where one recorder serves several. @default the component of the recorder */
  readonly component?: string
  /**
   * The API that it is written with: `v1` has counts and times of its own, which tables and older tools show, and is what
   * kube-controller-manager uses.
   * @default 'events.k8s.io/v1'
   */
  readonly api?: 'events.k8s.io/v1' | 'v1'
  /** A second object that it is about. */
  readonly related?: KubeObject
}

/** Records Events about objects. Never throws and never waits: what cannot be written is logged, counted and dropped. */
export interface EventRecorder {
  record(regarding: KubeObject, note: EventNote): void
}
