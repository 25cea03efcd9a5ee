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
    }
  /** The operator runs. */
  | { readonly type: 'ready' }
  /** The work queues of the operator have been empty for a moment. */
  | { readonly type: 'idle' }

/** A message from `dev` to the operator process. */
export type ToOperator = { readonly type: 'go' } | { readonly type: 'stop' }

/** The fields of a CustomResourceDefinition that `dev` reads. */
export interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly names: { readonly kind: string } }
}
