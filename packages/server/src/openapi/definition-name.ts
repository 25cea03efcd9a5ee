import type { Origin } from '../resource/origin.ts'

/** The name of a kind in OpenAPI documents: its Go package for built-in kinds, the reversed group for custom ones. */
export function definitionName(kind: { group: string; version: string; kind: string }, origin: Origin['name']): string {
  const { group, version } = kind
  if (origin === 'custom') return [...group.split('.').reverse(), version, kind.kind].join('.')
  const first = group === '' ? 'core' : group.split('.', 1)[0]!
  return `${packages[first] ?? `io.k8s.api.${first}`}.${version}.${kind.kind}`
}

const packages: Readonly<Record<string, string>> = {
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis.apiregistration',
}

/** The definition name of a type of apimachinery's meta/v1. */
export const metaDefinition = (kind: string): string => `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`

/** A group in operation ids, such as `RbacAuthorization` or `ShopExampleCom`. */
export function operationGroup(group: string): string {
  if (group === '') return 'Core'
  return group
    .replace(/\.k8s\.io$/, '')
    .split(/[.-]/)
    .map(capitalized)
    .join('')
}

/** A group version in tags, such as `rbacAuthorization_v1`. */
export function operationTag(group: string, version: string): string {
  const name = operationGroup(group)
  return `${name[0]!.toLowerCase()}${name.slice(1)}_${version}`
}

/** The text with its first letter in upper case. */
export function capitalized(text: string): string {
  return text === '' ? '' : text[0]!.toUpperCase() + text.slice(1)
}
