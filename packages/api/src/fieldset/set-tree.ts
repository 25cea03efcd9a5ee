import { compareElements } from './path-element.ts'

/** A node of the trie: whether the path that ends here is a member, and the members below it. Never mutated once shared. */
export interface SetNode {
  readonly member: boolean
  /** Never an empty map. */
  readonly children: SetTree | undefined
}

/**
 * A set of paths as a trie keyed by canonical path elements. Only the function that creates a tree fills it; afterwards
 * it is immutable. Operations therefore share unchanged subtrees, and an operation that changes nothing returns its
 * operand.
 */
export type SetTree = ReadonlyMap<string, SetNode>

/** A tree under construction. */
export type MutableSetTree = Map<string, SetNode>

/** The node of a member without members below it. */
export const leaf: SetNode = { member: true, children: undefined }

/** The empty set. */
export const emptyTree: SetTree = new Map()

/** Creates a node, or returns undefined when it would contain no member. */
export function nodeOf(member: boolean, children: SetTree | undefined): SetNode | undefined {
  if (children === undefined || children.size === 0) return member ? leaf : undefined
  return { member, children }
}

/** Adds the element itself as a member to a tree under construction. */
export function addMember(tree: MutableSetTree, element: string): void {
  const node = tree.get(element)
  if (node === undefined) tree.set(element, leaf)
  else if (!node.member) tree.set(element, { member: true, children: node.children })
}

/** Adds members below the element to a tree under construction. */
export function addChildren(tree: MutableSetTree, element: string, children: SetTree | undefined): void {
  if (children === undefined || children.size === 0) return
  const node = tree.get(element)
  if (node === undefined) tree.set(element, { member: false, children })
  else tree.set(element, { member: node.member, children: node.children ? union(node.children, children) : children })
}

/** The paths of either tree. */
export function union(a: SetTree, b: SetTree): SetTree {
  if (a === b || b.size === 0) return a
  if (a.size === 0) return b
  let out: MutableSetTree | undefined
  for (const [element, right] of b) {
    const left = a.get(element)
    let merged = right
    if (left !== undefined) {
      const children = left.children
        ? right.children
          ? union(left.children, right.children)
          : left.children
        : right.children
      const member = left.member || right.member
      if (member === left.member && children === left.children) continue
      merged = { member, children }
    }
    out ??= new Map(a)
    out.set(element, merged)
  }
  return out ?? a
}

/** The paths of both trees. */
export function intersection(a: SetTree, b: SetTree): SetTree {
  if (a === b) return a
  const out: MutableSetTree = new Map()
  let same = true
  for (const [element, left] of a) {
    const right = b.get(element)
    if (right === undefined) {
      same = false
      continue
    }
    const member = left.member && right.member
    const children = left.children && right.children ? intersection(left.children, right.children) : undefined
    if (member === left.member && children === left.children) {
      out.set(element, left)
      continue
    }
    same = false
    const node = nodeOf(member, children)
    if (node) out.set(element, node)
  }
  return same ? a : out
}

/**
 * The paths of `a` that are not in `b`. A path of `b` removes only that path or, when `recursive`, also everything
 * below it.
 */
export function difference(a: SetTree, b: SetTree, recursive: boolean): SetTree {
  if (a.size === 0 || b.size === 0) return a
  let out: MutableSetTree | undefined
  // Iterate over the smaller side: usually a few changed fields against everything that a manager owns.
  const few = b.size < a.size ? b : a
  for (const element of few.keys()) {
    const left = a.get(element)
    const right = b.get(element)
    if (left === undefined || right === undefined) continue
    const member = left.member && !right.member
    let children = left.children
    if (children !== undefined) {
      if (recursive && right.member) children = undefined
      else if (right.children !== undefined) children = difference(children, right.children, recursive)
    }
    if (member === left.member && children === left.children) continue
    out ??= new Map(a)
    const node = nodeOf(member, children)
    if (node) out.set(element, node)
    else out.delete(element)
  }
  return out ?? a
}

/** The members without members below them. */
export function leaves(tree: SetTree): SetTree {
  const out: MutableSetTree = new Map()
  for (const [element, node] of tree) {
    out.set(element, node.children ? { member: false, children: leaves(node.children) } : node)
  }
  return out
}

/** True when both trees contain the same paths. */
export function treesEqual(a: SetTree, b: SetTree): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [element, left] of a) {
    const right = b.get(element)
    if (right === undefined || left.member !== right.member) return false
    if (left.children === right.children) continue
    if (!left.children || !right.children || !treesEqual(left.children, right.children)) return false
  }
  return true
}

/** True when `b` contains every path of `a`. */
export function isSubset(a: SetTree, b: SetTree): boolean {
  if (a === b) return true
  for (const [element, left] of a) {
    const right = b.get(element)
    if (right === undefined || (left.member && !right.member)) return false
    if (left.children && !(right.children && isSubset(left.children, right.children))) return false
  }
  return true
}

/** The number of paths. */
export function treeSize(tree: SetTree): number {
  let size = 0
  for (const node of tree.values()) size += (node.member ? 1 : 0) + (node.children ? treeSize(node.children) : 0)
  return size
}

/** Up to this number, elements are sorted by insertion: the array and the closure of `sort` cost more than a few comparisons. */
const sortedInPlace = 24

/** Moves the element at an index to its place among the sorted ones before it. */
function insert(elements: string[], index: number): void {
  const element = elements[index] as string
  let at = index
  for (; at > 0 && compareElements(elements[at - 1] as string, element) > 0; at--)
    elements[at] = elements[at - 1] as string
  elements[at] = element
}

/** The elements of the top level in canonical order. */
export function sortedElements(tree: SetTree): readonly string[] {
  const elements = [...tree.keys()]
  for (let i = 1; i < elements.length; i++) {
    if (compareElements(elements[i - 1] as string, elements[i] as string) <= 0) continue
    if (elements.length > sortedInPlace) return elements.sort(compareElements)
    insert(elements, i)
  }
  return elements
}
