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

/** The JSON value of `fieldsV1` in a managedFields entry. */
export type FieldsV1 = { readonly [element: string]: FieldsV1 }

/**
 * An immutable set of field paths: the fields that a manager owns according to managedFields. Membership is per path:
 * owning `.spec` does not imply owning `.spec.replicas`, nor the reverse.
 *
 * @example
 * const owned = FieldSet.parse(entry.fieldsV1)
 * owned.has(fieldSetPath('spec', 'replicas'))
 */
export class FieldSet {
  /** The empty set. */
  static readonly empty: FieldSet = new FieldSet(emptyTree)

  readonly #tree: SetTree

  private constructor(tree: SetTree) {
    this.#tree = tree
  }

  /** The set of the given paths. The empty path (the whole object) cannot be owned and is ignored. */
  static of(...paths: readonly FieldSetPath[]): FieldSet {
    return FieldSet.from(paths)
  }

  /** The set of any number of paths, as {@link of}. */
  static from(paths: readonly FieldSetPath[]): FieldSet {
    return FieldSet.fromTree(unionOf(paths, single))
  }

  /** The paths of all sets. */
  static union(sets: readonly FieldSet[]): FieldSet {
    return FieldSet.fromTree(unionOf(sets, (set) => set.#tree))
  }

  /**
   * Decodes `fieldsV1`. Accepts any order and JSON spelling of elements and drops elements of an unknown type, as
   * Kubernetes does. Throws a SyntaxError when the value is not FieldsV1.
   */
  static parse(fields: unknown): FieldSet {
    if (fields === undefined || fields === null) return FieldSet.empty
    return FieldSet.fromTree(parseNode(fields).children ?? emptyTree)
  }

  /** Wraps a trie. The caller must not mutate it afterwards. */
  static fromTree(tree: SetTree): FieldSet {
    return tree.size === 0 && FieldSet.empty !== undefined ? FieldSet.empty : new FieldSet(tree)
  }

  /** The underlying trie, for algorithms that need its structure. */
  get tree(): SetTree {
    return this.#tree
  }

  /** The number of paths. */
  get size(): number {
    return treeSize(this.#tree)
  }

  /** True when the set has no paths. */
  get isEmpty(): boolean {
    return this.#tree.size === 0
  }

  /** True when the path itself is a member; paths above or below it do not count. */
  has(path: FieldSetPath): boolean {
    let tree: SetTree | undefined = this.#tree
    let node: SetNode | undefined
    for (const element of path) {
      node = tree?.get(element)
      tree = node?.children
    }
    return node?.member ?? false
  }

  /** The members below the element, with paths relative to it. */
  withPrefix(element: string): FieldSet {
    return FieldSet.fromTree(this.#tree.get(element)?.children ?? emptyTree)
  }

  /** The paths of either set. Returns this instance when the other set adds nothing. */
  union(other: FieldSet): FieldSet {
    return this.#derive(union(this.#tree, other.#tree))
  }

  /** The paths of both sets. */
  intersection(other: FieldSet): FieldSet {
    return this.#derive(intersection(this.#tree, other.#tree))
  }

  /** The paths that are not in the other set. Returns this instance when nothing is removed. */
  difference(other: FieldSet): FieldSet {
    return this.#derive(difference(this.#tree, other.#tree, false))
  }

  /** The paths that are neither in the other set nor below one of its paths. */
  recursiveDifference(other: FieldSet): FieldSet {
    return this.#derive(difference(this.#tree, other.#tree, true))
  }

  /** The paths that are not a prefix of another path in the set. */
  leaves(): FieldSet {
    return FieldSet.fromTree(leaves(this.#tree))
  }

  /** True when both sets contain the same paths. */
  equals(other: FieldSet): boolean {
    return treesEqual(this.#tree, other.#tree)
  }

  /** True when the other set contains every path of this set. */
  isSubsetOf(other: FieldSet): boolean {
    return isSubset(this.#tree, other.#tree)
  }

  /** The paths in canonical order: at each level the members first, then the paths below them. */
  paths(): FieldSetPath[] {
    const out: FieldSetPath[] = []
    collect(this.#tree, [], out)
    return out
  }

  /** The JSON value for `fieldsV1`, with keys in canonical order. */
  toJSON(): FieldsV1 {
    return encode(this.#tree, false)
  }

  /** One path per line, in the notation of conflict messages. */
  toString(): string {
    return this.paths().map(formatFieldSetPath).join('\n')
  }

  #derive(tree: SetTree): FieldSet {
    return tree === this.#tree ? this : FieldSet.fromTree(tree)
  }
}

/** The union of the trees of a range of items. Halving it keeps the work at n log n: `union` copies the maps of one side. */
function unionOf<T>(items: readonly T[], tree: (item: T) => SetTree, from = 0, to = items.length): SetTree {
  if (to - from < 2) return from === to ? emptyTree : tree(items[from] as T)
  const middle = (from + to) >> 1
  return union(unionOf(items, tree, from, middle), unionOf(items, tree, middle, to))
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
    // Reached only when the input spells the same element in two ways.
    if (known !== undefined) {
      if (child.member) addMember(children, element)
      if (child.children) children.set(element, { member: known.member || child.member, children: child.children })
    } else {
      children.set(element, child)
    }
  }
  // An element with nothing below it denotes itself, with or without ".".
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
