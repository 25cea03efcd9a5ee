import { compareElements } from './path-element.ts'

/** One element of a set: whether it belongs to the set itself, and what of the things below it does. Never mutated once shared. */
export interface SetNode {
  readonly member: boolean
  /** Never an empty map. */
  readonly children: SetTree | undefined
}

/**
 * A set of paths as a trie keyed by canonical path elements. A tree is filled by the function that creates it and immutable from then
 * on, which lets every operation share what it does not change; an operation that changes nothing returns its operand itself.
 */
export type SetTree = ReadonlyMap<string, SetNode>

/** A tree while it is being filled. */
export type MutableSetTree = Map<string, SetNode>

/** The node of a path that is in a set with nothing below it. */
export const leaf: SetNode = { member: true, children: undefined }

/** The set without paths. */
export const emptyTree: SetTree = new Map()

/** A node, or undefined when it would say nothing. */
export function nodeOf(member: boolean, children: SetTree | undefined): SetNode | undefined {
  if (children === undefined || children.size === 0) return member ? leaf : undefined
  return { member, children }
}

/** Adds the element itself to a tree under construction. */
export function addMember(tree: MutableSetTree, element: string): void {
  const node = tree.get(element)
  if (node === undefined) tree.set(element, leaf)
  else if (!node.member) tree.set(element, { member: true, children: node.children })
}

/** Adds what is below the element to a tree under construction. */
export function addChildren(tree: MutableSetTree, element: string, children: SetTree | undefined): void {
  if (children === undefined || children.size === 0) return
  const node = tree.get(element)
  if (node === undefined) tree.set(element, { member: false, children })
  else tree.set(element, { member: node.member, children: node.children ? union(node.children, children) : children })
}

/** Everything that is in either tree. */
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

/** Everything that is in both trees. */
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
 * Everything of `a` that is not in `b`. A path of `b` takes away that path alone, unless `recursive`, where it takes away what is
 * below it too.
 */
export function difference(a: SetTree, b: SetTree, recursive: boolean): SetTree {
  if (a.size === 0 || b.size === 0) return a
  let out: MutableSetTree | undefined
  // The smaller side drives the search: usually a few changed fields against all that a manager owns.
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

/** The members that have nothing below them. */
export function leaves(tree: SetTree): SetTree {
  const out: MutableSetTree = new Map()
  for (const [element, node] of tree) {
    out.set(element, node.children ? { member: false, children: leaves(node.children) } : node)
  }
  return out
}

/** True when both hold the same paths. */
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

/** True when every path of `a` is in `b`. */
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

/** The elements of one level in canonical order. */
export function sortedElements(tree: SetTree): readonly string[] {
  const elements = [...tree.keys()]
  for (let i = 1; i < elements.length; i++) {
    if (compareElements(elements[i - 1] as string, elements[i] as string) > 0) return elements.sort(compareElements)
  }
  return elements
}
