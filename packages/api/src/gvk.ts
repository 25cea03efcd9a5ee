import { ApiSyntaxError } from './api-syntax-error.ts'

/** An API group and one of its versions; the core group is the empty string. */
export interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** A kind without a version. Validation errors name kinds this way. */
export interface GroupKind {
  readonly group: string
  readonly kind: string
}

/** A resource (the plural name in the URL) without a version. Most API errors name resources this way. */
export interface GroupResource {
  readonly group: string
  readonly resource: string
}

/** The full name of a kind: group, version and kind. */
export interface GroupVersionKind extends GroupVersion, GroupKind {}

/** The full name of a resource: group, version and the plural name in the URL. */
export interface GroupVersionResource extends GroupVersion, GroupResource {}

/**
 * Parses an `apiVersion`: `apps/v1`, or `v1` for the core group. The empty string and `/` give an empty group and
 * version, as in apimachinery. Throws {@link ApiSyntaxError} when there is more than one slash.
 */
export function parseGroupVersion(apiVersion: string): GroupVersion {
  if (apiVersion === '' || apiVersion === '/') return { group: '', version: '' }
  const slash = apiVersion.indexOf('/')
  if (slash < 0) return { group: '', version: apiVersion }
  if (apiVersion.indexOf('/', slash + 1) >= 0) {
    throw new ApiSyntaxError(`unexpected GroupVersion string: ${apiVersion}`)
  }
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/** Prints an `apiVersion`: the version alone for the core group. */
export function formatGroupVersion(gv: GroupVersion): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`
}

/** Parses `Kind.group.example.com`; no dot means the core group. */
export function parseGroupKind(text: string): GroupKind {
  const [kind, group] = cutAtDot(text)
  return { group, kind }
}

/** Prints `Kind.group`, or the kind alone for the core group, as validation errors do. */
export function formatGroupKind(gk: GroupKind): string {
  return gk.group === '' ? gk.kind : `${gk.kind}.${gk.group}`
}

/** Parses `resources.group.example.com`; no dot means the core group. */
export function parseGroupResource(text: string): GroupResource {
  const [resource, group] = cutAtDot(text)
  return { group, resource }
}

/** Prints `resource.group`, or the resource alone for the core group, as API errors do. */
export function formatGroupResource(gr: GroupResource): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`
}

/** Prints `group/version, Kind=kind`, as Go prints a GroupVersionKind. */
export function formatGroupVersionKind(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}, Kind=${gvk.kind}`
}

/** Prints `group/version, Resource=resource`, as Go prints a GroupVersionResource. */
export function formatGroupVersionResource(gvr: GroupVersionResource): string {
  return `${gvr.group}/${gvr.version}, Resource=${gvr.resource}`
}

/**
 * Parses a resource argument of a kubectl command line. `pods.v1.example.com` is ambiguous: `v1` is a version (the
 * `full` reading) or part of the group (the `short` reading). Both are returned; the caller picks one by the groups
 * that exist. With fewer than two dots there is no `full` reading.
 */
export function parseResourceArg(text: string): { full?: GroupVersionResource | undefined; short: GroupResource } {
  const short = parseGroupResource(text)
  const [version, group] = cutAtDot(short.group)
  return short.group.includes('.') ? { full: { group, version, resource: short.resource }, short } : { short }
}

/** Parses a kind argument of a kubectl command line; the two readings are those of {@link parseResourceArg}. */
export function parseKindArg(text: string): { full?: GroupVersionKind | undefined; short: GroupKind } {
  const { full, short } = parseResourceArg(text)
  const shortKind = { group: short.group, kind: short.resource }
  return full
    ? { full: { group: full.group, version: full.version, kind: full.resource }, short: shortKind }
    : { short: shortKind }
}

/**
 * The full kind name from an object's `apiVersion` and `kind`. A malformed `apiVersion` gives an empty group and
 * version.
 */
export function gvkOf(object: { readonly apiVersion: string; readonly kind: string }): GroupVersionKind {
  const { apiVersion, kind } = object
  const slash = apiVersion.indexOf('/')
  if (slash < 0) return { group: '', version: apiVersion, kind }
  if (apiVersion.indexOf('/', slash + 1) >= 0) return { group: '', version: '', kind }
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind }
}

/**
 * Guesses the plural of a kind as apimachinery's UnsafeGuessKindToResource does: lower case, `s` -> `ses`, `y` ->
 * `ies`, and `endpoints` unchanged. Use it only as the default for new kinds; use discovery to find the plural that a
 * server serves.
 */
export function guessPlural(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular === '' || singular.endsWith('endpoints')) return singular
  if (singular.endsWith('s')) return `${singular}es`
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`
  return `${singular}s`
}

function cutAtDot(text: string): [head: string, tail: string] {
  const dot = text.indexOf('.')
  return dot < 0 ? [text, ''] : [text.slice(0, dot), text.slice(dot + 1)]
}
