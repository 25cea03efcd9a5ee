import type { AnyKind } from '@kubewright/api'

/** A built-in kind of Kubernetes. */
export interface BuiltinKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** The kinds of `kubewright/k8s`. Loads all of them, which takes a moment. */
export async function builtinKinds(): Promise<BuiltinKind[]> {
  const exported: Readonly<Record<string, unknown>> = await import('@kubewright/k8s')
  const kinds: BuiltinKind[] = []
  for (const [name, value] of Object.entries(exported)) {
    if (typeof value !== 'function' || !('plural' in value)) continue
    const { group, version, kind, plural } = value as unknown as AnyKind
    if (kind === name) kinds.push({ group, version, kind, plural })
  }
  return kinds
}

/** The full name of a group of Kubernetes that is given in short form: `core`, `apps`, `rbac.authorization`. Undefined for others. */
export function builtinGroup(kinds: readonly BuiltinKind[], group: string): string | undefined {
  if (group === 'core') return ''
  const groups = new Set(kinds.map((kind) => kind.group))
  return [group, `${group}.k8s.io`].find((name) => name !== '' && groups.has(name))
}
