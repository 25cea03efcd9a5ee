import { safeEncode } from '@kubewright/base'

/**
 * A short hash of a pod template for names and labels. It does not depend on the order of members; `collisions` selects
 * another hash when a name is taken. The value differs from kube-controller-manager's, which hashes Go's printed form of
 * the template; alphabet and length are the same.
 */
export function templateHash(template: unknown, collisions?: number): string {
  const hash = fnv32a(canonicalJson(template) + (collisions === undefined ? '' : `#${collisions}`))
  return safeEncode(String(hash))
}

/** The hash in the names of stateful set revisions, equal to kube-controller-manager's. */
export function revisionHash(data: object, collisions: number): string {
  // Go's encoder escapes HTML characters.
  const escaped = canonicalJson(data).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return safeEncode(String(fnv32(`${escaped}${collisions}`)))
}

/** JSON with sorted members, so that equal values have equal texts. */
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
