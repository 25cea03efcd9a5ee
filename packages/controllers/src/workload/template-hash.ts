import { safeEncode } from '@kubewright/base'

/**
 * A short hash of a pod template for names and labels. It is stable over the order of members, and `collisions` gives another one
 * where a name is taken. The value differs from kube-controller-manager's, which hashes Go's memory layout; the alphabet and the
 * length are the same.
 */
export function templateHash(template: unknown, collisions?: number): string {
  const hash = fnv32a(canonicalJson(template) + (collisions === undefined ? '' : `#${collisions}`))
  return safeEncode(String(hash))
}

/** The hash by which stateful sets name their revisions, equal to kube-controller-manager's. */
export function revisionHash(data: object, collisions: number): string {
  // Go's encoder escapes what could be markup.
  const escaped = canonicalJson(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return safeEncode(String(fnv32(`${escaped}${collisions}`)))
}

/** JSON with the members of every object in order, so that equal values are equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null)
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(',')}}`
}

function fnv32a(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}

function fnv32(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash, 0x01000193) ^ byte
  return hash >>> 0
}
