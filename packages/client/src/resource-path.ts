import type { AnyKind, GroupVersion, Scope } from '@kubewright/api'
import { goQuote, isPathSegmentName } from '@kubewright/base'

/** The names from which a path is built: a Kind or a discovered resource. */
export interface PathFacts extends GroupVersion {
  readonly kind: string
  readonly plural: string
  readonly scope: Scope
}

/** The object or collection that a path refers to. */
export interface PathTarget {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly subresource?: string | undefined
}

/** The URL path of an object, or of a collection when there is no name. */
export function resourcePath({ group, version, plural, scope }: PathFacts, target: PathTarget): string {
  const { namespace = '', name, subresource } = target
  let path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  if (scope === 'Namespaced' && namespace !== '') path += `/namespaces/${segment('namespace', namespace)}`
  path += `/${plural}`
  if (name !== undefined) path += `/${segment('resource name', name)}`
  return subresource === undefined ? path : `${path}/${subresource}`
}

/** Encodes a path segment. Throws for a value that would change the structure of the path. */
function segment(what: string, value: string): string {
  if (value === '') throw new TypeError(`${what} may not be empty`)
  const problems = isPathSegmentName(value, false)
  if (problems.length > 0) throw new TypeError(`invalid ${what} ${goQuote(value)}: [${problems.join(' ')}]`)
  return encodeURIComponent(value)
}

/** The type name of a kind or object, as a map key: `apiVersion/kind`. */
export function objectTypeName(kind: Pick<AnyKind, 'apiVersion' | 'kind'>): string {
  return `${kind.apiVersion}/${kind.kind}`
}
