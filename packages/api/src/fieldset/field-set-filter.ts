import { FieldSet } from './field-set.ts'
import { type FieldSetPath, fieldSetPath } from './path-element.ts'
import { type MutableSetTree, nodeOf, type SetTree } from './set-tree.ts'

/** Restricts a set, for example to the fields that an endpoint may write. */
export type FieldSetFilter = (set: FieldSet) => FieldSet

/** Matches any single element in a pattern of {@link includeFields}. */
export const anyElement: unique symbol = Symbol('any element')

/** A filter that removes the given paths and everything below them, such as the reset fields of an endpoint. */
export function excludeFields(excluded: FieldSet): FieldSetFilter {
  return (set) => set.recursiveDifference(excluded)
}

/** A filter that keeps paths that match a pattern or are below a match. A string matches a field name. */
export function includeFields(...patterns: readonly (readonly (string | typeof anyElement)[])[]): FieldSetFilter {
  const steps = patterns.map((pattern) =>
    pattern.map((step) => (step === anyElement ? step : (fieldSetPath(step) as FieldSetPath)[0])),
  )
  return (set) => FieldSet.fromTree(keep(set.tree, steps))
}

function keep(tree: SetTree, patterns: readonly (readonly (string | symbol | undefined)[])[]): SetTree {
  if (patterns.some((pattern) => pattern.length === 0)) return tree
  const out: MutableSetTree = new Map()
  for (const [element, node] of tree) {
    const rest = patterns.filter(([step]) => step === anyElement || step === element).map((pattern) => pattern.slice(1))
    if (rest.length === 0) continue
    const kept = nodeOf(node.member, node.children && keep(node.children, rest))
    if (kept) out.set(element, kept)
  }
  return out
}
