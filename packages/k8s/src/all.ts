import type { AnyKind } from '@kubewright/api'
import { kindList } from './generated/kind-list.ts'

/** Returns every built-in kind in every served version, ordered by group and name. */
export function builtinKinds(): readonly AnyKind[] {
  return kindList
}

let index: ReadonlyMap<string, AnyKind> | undefined

/** Returns the built-in kind with this group, version and name, or undefined. The core group has the empty name. */
export function kindFor(gvk: {
  readonly group: string
  readonly version: string
  readonly kind: string
}): AnyKind | undefined {
  index ??= new Map(kindList.map((kind) => [`${kind.apiVersion}/${kind.kind}`, kind]))
  const apiVersion = gvk.group === '' ? gvk.version : `${gvk.group}/${gvk.version}`
  return index.get(`${apiVersion}/${gvk.kind}`)
}
