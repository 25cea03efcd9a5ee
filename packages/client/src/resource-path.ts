import type { AnyKind, GroupVersion, Scope } from '@kubewright/api'
import { goQuote, isPathSegmentName } from '@kubewright/base'

/** What a path is made from: a Kind, or what discovery knows of one. */
export interface PathFacts extends GroupVersion {
  readonly kind: string
  readonly plural: string
  readonly scope: Scope
}

/** Which object or collection. */
export interface PathTarget {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

/** The path of an object, or of a collection when no name is given. */
export function resourcePath({ group, version, plural, scope }: PathFacts, target: PathTarget): string {
  const { namespace = '', name, subresource } = target
  let path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  if (scope === 'Namespaced' && namespace !== '') path += `/namespaces/${segment('namespace', namespace)}`
  path += `/${plural}`
  if (name !== undefined) path += `/${segment('resource name', name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** Refuses what would name something else as a part of a path. */
function segment(what: string, value: string): string {
  if (value === '') throw new TypeError(`${what} may not be empty`)
  const problems = isPathSegmentName(value, false)
  if (problems.length > 0) throw new TypeError(`invalid ${what} ${goQuote(value)}: [${problems.join(' ')}]`)
  return encodeURIComponent(value)
}

/** The facts of a kind under the name that objects carry. */
export function objectTypeName(kind: Pick<AnyKind, 'apiVersion' | 'kind'>): string {
  return `${kind.apiVersion}/${kind.kind}`
}
