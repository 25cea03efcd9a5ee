import { FieldSet } from '../fieldset/field-set.ts'
import { leaf, type MutableSetTree, nodeOf, type SetNode, type SetTree } from '../fieldset/set-tree.ts'
import type { TypeNode } from './type-node.ts'

/**
 * Adapts ownership to a schema that has changed since: where a list or map became atomic, owning a part of it becomes
 * owning all of it. The opposite change needs no adaptation. Returns the same set when nothing changes.
 */
export function reconcileWithSchema(set: FieldSet, type: TypeNode): FieldSet {
  const tree = reconcileTree(set.tree, type)
  return tree === set.tree ? set : FieldSet.fromTree(tree)
}

function reconcileTree(tree: SetTree, type: TypeNode): SetTree {
  let out: MutableSetTree | undefined
  for (const [element, node] of tree) {
    const below = typeBelow(type, element)
    if (below === undefined) continue
    const reconciled = reconcileNode(node, below)
    if (reconciled === node) continue
    out ??= new Map(tree)
    out.set(element, reconciled)
  }
  return out ?? tree
}

function typeBelow(type: TypeNode, element: string): TypeNode | undefined {
  // As in Kubernetes, map takes precedence where the type allows several forms.
  if (type.map) {
    if (type.map.isFreeForm) return undefined
    const field = element.startsWith('f:') ? type.map.field(element.slice(2)) : undefined
    return field ? field.type : type.map.elementType
  }
  return type.scalar ? undefined : type.list?.elementType
}

function reconcileNode(node: SetNode, type: TypeNode): SetNode {
  const owned = node.member && node.children === undefined
  if (type.map) {
    if (type.map.isFreeForm) return node
    if (!owned && type.map.atomic) return node.children ? leaf : node
  } else if (!type.scalar && type.list?.atomic && !owned) {
    return leaf
  }
  if (node.children === undefined) return node
  const children = reconcileTree(node.children, type)
  return children === node.children ? node : (nodeOf(node.member, children) as SetNode)
}

/**
 * Adds every declared field that is a prefix of a path in the set. Structs are owned only through their fields, but
 * removing the last field must also remove the struct. Map keys and list items are not added, because they are members
 * themselves when owned.
 */
export function withNamedFields(set: FieldSet, type: TypeNode): FieldSet {
  const tree = nameFields(set.tree, type)
  return tree === set.tree ? set : FieldSet.fromTree(tree)
}

function nameFields(tree: SetTree, type: TypeNode | undefined): SetTree {
  let out: MutableSetTree | undefined
  for (const [element, node] of tree) {
    if (node.children === undefined) continue
    let member = node.member
    let below: TypeNode | undefined
    if (element.startsWith('f:')) {
      const field = type?.map?.field(element.slice(2))
      if (field) member = true
      below = field ? field.type : type?.map?.elementType
    } else if (element.startsWith('k:')) {
      below = type?.list?.elementType
    }
    const children = nameFields(node.children, below)
    if (member === node.member && children === node.children) continue
    out ??= new Map(tree)
    out.set(element, { member, children })
  }
  return out ?? tree
}
