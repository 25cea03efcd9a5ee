import type { AnyKind } from '@kubewright/api'

/** A kind of Kubernetes itself. */
export interface BuiltinKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
}

/** The kinds that `kubewright/k8s` has. Loads all of them: several hundred. */
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

/** The full name of a group of Kubernetes that somebody wrote in short: `core`, `apps`, `rbac.authorization`. */
export function builtinGroup(kinds: readonly BuiltinKind[], group: string): string | undefined {
  if (group === 'core') return ''
  const groups = new Set(kinds.map((kind) => kind.group))
  return [group, `${group}.k8s.io`].find((name) => name !== '' && groups.has(name))
}
