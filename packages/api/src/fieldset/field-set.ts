import { canonicalElement, type FieldSetPath, formatFieldSetPath } from './path-element.ts'
import {
  addMember,
  difference,
  emptyTree,
  intersection,
  isSubset,
  leaf,
  leaves,
  type MutableSetTree,
  nodeOf,
  type SetNode,
  type SetTree,
  sortedElements,
  treeSize,
  treesEqual,
  union,
} from './set-tree.ts'

/** The JSON of `fieldsV1` in a managedFields entry. */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

/**
 * An immutable set of field paths, as managedFields records what a manager owns. A path is in the set on its own account: owning
 * `.spec` does not imply `.spec.replicas`, nor the other way round.
 *
 * @example
 * const owned = FieldSet.parse(entry.fieldsV1)
 * owned.has(fieldSetPath('spec', 'replicas'))
 */
export class FieldSet {
  /** The set without paths. */
  static readonly empty: FieldSet = new FieldSet(emptyTree)

  readonly #tree: SetTree

  private constructor(tree: SetTree) {
    this.#tree = tree
  }

  /** A set of the given paths. The empty path is the whole object, which nobody owns, and is left out. */
  static of(...paths: readonly FieldSetPath[]): FieldSet {
    let tree = emptyTree
    for (const path of paths) tree = union(tree, single(path))
    return FieldSet.fromTree(tree)
  }

  /**
   * Reads `fieldsV1`. Elements may come in any order and spelling; elements of an unknown type are dropped, as Kubernetes does.
   * Throws a SyntaxError for what is no FieldsV1 at all.
   */
  static parse(fields: unknown): FieldSet {
    if (fields === undefined || fields === null) return FieldSet.empty
    return FieldSet.fromTree(parseNode(fields).children ?? emptyTree)
  }

  /** Wraps a trie that nobody mutates any more. */
  static fromTree(tree: SetTree): FieldSet {
    return tree.size === 0 && FieldSet.empty !== undefined ? FieldSet.empty : new FieldSet(tree)
  }

  /** The trie behind the set, for walks that need its structure. */
  get tree(): SetTree {
    return this.#tree
  }

  /** The number of paths. */
  get size(): number {
    return treeSize(this.#tree)
  }

  /** True when no path is in the set. */
  get isEmpty(): boolean {
    return this.#tree.size === 0
  }

  /** True when the path itself is in the set. */
  has(path: FieldSetPath): boolean {
    let tree: SetTree | undefined = this.#tree
    let node: SetNode | undefined
    for (const element of path) {
      node = tree?.get(element)
      tree = node?.children
    }
    return node?.member ?? false
  }

  /** The set of what is below the element, with paths that start there. */
  withPrefix(element: string): FieldSet {
    return FieldSet.fromTree(this.#tree.get(element)?.children ?? emptyTree)
  }

  /** Everything in either set. Returns this very set when the other adds nothing. */
  union(other: FieldSet): FieldSet {
    return this.#derive(union(this.#tree, other.#tree))
  }

  /** Everything in both sets. */
  intersection(other: FieldSet): FieldSet {
    return this.#derive(intersection(this.#tree, other.#tree))
  }

  /** Everything that is not in the other set. Returns this very set when nothing is taken away. */
  difference(other: FieldSet): FieldSet {
    return this.#derive(difference(this.#tree, other.#tree, false))
  }

  /** Everything that is neither in the other set nor below one of its paths. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#derive(difference(this.#tree, other.#tree, true))
  }

  /** The paths that have no longer path of the set below them. */
  leaves(): FieldSet {
    return FieldSet.fromTree(leaves(this.#tree))
  }

  /** True when both sets hold the same paths. */
  equals(other: FieldSet): boolean {
    return treesEqual(this.#tree, other.#tree)
  }

  /** True when every path of this set is in the other. */
  isSubsetOf(other: FieldSet): boolean {
    return isSubset(this.#tree, other.#tree)
  }

  /** The paths in canonical order: at each level first the members, then what is below them. */
  paths(): FieldSetPath[] {
    const out: FieldSetPath[] = []
    collect(this.#tree, [], out)
    return out
  }

  /** The JSON for `fieldsV1`, keys in canonical order. */
  toJSON(): FieldsV1 {
    return encode(this.#tree, false)
  }

  /** One path a line, as messages show them. */
  toString(): string {
    return this.paths().map(formatFieldSetPath).join('\n')
  }

  #derive(tree: SetTree): FieldSet {
    return tree === this.#tree ? this : FieldSet.fromTree(tree)
  }
}

function single(path: FieldSetPath): SetTree {
  let tree: SetTree = emptyTree
  for (let i = path.length - 1; i >= 0; i--) {
    const element = path[i] as string
    tree = new Map([[element, i === path.length - 1 ? leaf : { member: false, children: tree }]])
  }
  return tree
}

function parseNode(fields: unknown): SetNode {
  if (fields === null) return leaf
  if (typeof fields !== 'object' || Array.isArray(fields)) {
    throw new SyntaxError('fieldsV1 must consist of objects')
  }
  let member = false
  let children: MutableSetTree | undefined
  for (const key in fields) {
    if (key === '.') {
      member = true
      continue
    }
    const element = canonicalElement(key)
    if (element === undefined) continue
    const child = parseNode((fields as Record<string, unknown>)[key])
    children ??= new Map()
    const known = children.get(element)
    // Only a client that spells one element in two ways gets here.
    if (known !== undefined) {
      if (child.member) addMember(children, element)
      if (child.children) children.set(element, { member: known.member || child.member, children: child.children })
    } else {
      children.set(element, child)
    }
  }
  // An element without anything below it can only mean itself.
  return children === undefined ? leaf : (nodeOf(member, children) as SetNode)
}

function encode(tree: SetTree, self: boolean): FieldsV1 {
  const out: Record<string, FieldsV1> = {}
  if (self) out['.'] = {}
  for (const element of sortedElements(tree)) {
    const node = tree.get(element) as SetNode
    out[element] = node.children ? encode(node.children, node.member) : {}
  }
  return out
}

function collect(tree: SetTree, prefix: readonly string[], out: FieldSetPath[]): void {
  const elements = sortedElements(tree)
  for (const element of elements) {
    if ((tree.get(element) as SetNode).member) out.push([...prefix, element])
  }
  for (const element of elements) {
    const { children } = tree.get(element) as SetNode
    if (children) collect(children, [...prefix, element], out)
  }
}
