/** A parsed JSONPath template: literal text and actions (`{...}`), in order. */
export type TemplateNode = TextNode | ActionNode

/** Literal text: text outside of braces, or a quoted string inside. */
export interface TextNode {
  readonly type: 'text'
  readonly text: string
}

/** The contents of a pair of braces: steps that are evaluated in sequence. */
export interface ActionNode {
  readonly type: 'list'
  readonly steps: readonly StepNode[]
}

/** One bound of a slice. `derived` marks the end bound that a single index implies. */
export interface SliceBound {
  readonly value: number
  readonly known: boolean
  readonly derived?: boolean | undefined
}

/** One step of an action. */
export type StepNode =
  | TextNode
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'wildcard' }
  | { readonly type: 'recursive' }
  | { readonly type: 'array'; readonly bounds: readonly [SliceBound, SliceBound, SliceBound] }
  | { readonly type: 'union'; readonly lists: readonly ActionNode[] }
  | { readonly type: 'filter'; readonly left: ActionNode; readonly right: ActionNode; readonly operator: string }
  | { readonly type: 'identifier'; readonly name: string }
  | { readonly type: 'value'; readonly value: number | boolean | GoFloat }

/** A number literal that Go represents as float64, which cannot be compared with an integer. */
export class GoFloat {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}
