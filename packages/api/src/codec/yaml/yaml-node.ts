/** A node of a YAML document, before aliases are expanded and scalars are resolved. */
export type YamlNode = ScalarNode | SequenceNode | MappingNode | AliasNode

export interface ScalarNode {
  readonly kind: 'scalar'
  /** From zero; the line of the first property if the node has any. */
  readonly line: number
  readonly text: string
  /** The complete tag; empty for none. */
  readonly tag: string
  /** As in go-yaml: a plain scalar without a tag, or any scalar with the tag `!`. */
  readonly implicit: boolean
}

export interface SequenceNode {
  readonly kind: 'sequence'
  readonly line: number
  readonly items: YamlNode[]
}

export interface MappingNode {
  readonly kind: 'mapping'
  readonly line: number
  /** Keys and values in turn. */
  readonly entries: YamlNode[]
}

export interface AliasNode {
  readonly kind: 'alias'
  readonly line: number
  readonly name: string
  readonly target: YamlNode
}
