/** What the process of an operator tells `dev`. */
export type FromOperator =
  /** The module was loaded and has an operator; it waits to be told to go. */
  | {
      readonly type: 'loaded'
      readonly operator: string
      readonly controllers: readonly string[]
      readonly webhooks: number
      readonly conversions: number
      /** CustomResourceDefinitions, as JSON. */
      readonly definitions: readonly Definition[]
    }
  /** The operator works. */
  | { readonly type: 'ready' }
  /** It has nothing to do at present. */
  | { readonly type: 'idle' }

/** What `dev` tells the process of an operator. */
export type ToOperator = { readonly type: 'go' } | { readonly type: 'stop' }

/** As much of a CustomResourceDefinition as has to be known. */
export interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly names: { readonly kind: string } }
}
