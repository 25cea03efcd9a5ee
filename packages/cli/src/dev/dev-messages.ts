import type { ControllerCommand, DebugReport, PolicyRule } from '@kubewright/runtime'

/** A message from the operator process to `dev`. */
export type FromOperator =
  /** The module is loaded and exports an operator. The process now waits for `go`. */
  | {
      readonly type: 'loaded'
      readonly operator: string
      readonly controllers: readonly string[]
      readonly webhooks: number
      readonly conversions: number
      /** CustomResourceDefinitions, as JSON. */
      readonly definitions: readonly Definition[]
      /** The RBAC rules of the generated roles, as JSON. */
      readonly rules: readonly PolicyRule[]
    }
  /** The operator runs. */
  | { readonly type: 'ready' }
  /** The work queues of the operator have been empty for a moment. */
  | { readonly type: 'idle' }
  /** The response to `report`. Absent until the operator runs. */
  | { readonly type: 'report'; readonly report?: DebugReport | undefined }
  /** The response to `control`. */
  | { readonly type: 'controlled'; readonly isKnown: boolean }

/** A message from `dev` to the operator process. */
export type ToOperator =
  /** Run the operator. With a port, let a debugger attach there first. */
  | { readonly type: 'go'; readonly inspect?: number | undefined }
  | { readonly type: 'stop' }
  /** Send the state of the operator, for the console. */
  | { readonly type: 'report' }
  /** Pause, step or resume a controller, for the console. */
  | { readonly type: 'control'; readonly controller: string; readonly command: ControllerCommand }

/** The fields of a CustomResourceDefinition that `dev` reads. */
export interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly names: { readonly kind: string } }
}
