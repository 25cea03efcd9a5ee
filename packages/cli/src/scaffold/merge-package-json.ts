import { isJsonObject } from '@kubewright/base'

// These fields control how the package is published, which is up to its owner.
const ownerFields: readonly string[] = ['name', 'version', 'private', 'license', 'repository']

/** Adds the missing fields of another package.json, and changes no existing one. Undefined if the text is not JSON. */
export function mergePackageJson(text: string, wanted: string): string | undefined {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return undefined
  }
  const needed = Object.entries(JSON.parse(wanted)).filter(([key]) => !ownerFields.includes(key))
  const merged = withMissing(found, Object.fromEntries(needed))
  if (JSON.stringify(merged) === JSON.stringify(found)) return text
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  '
  return `${JSON.stringify(merged, undefined, indent)}\n`
}

function withMissing(found: unknown, wanted: unknown): unknown {
  if (!isJsonObject(found) || !isJsonObject(wanted)) return found
  const merged: Record<string, unknown> = { ...found }
  for (const [key, value] of Object.entries(wanted)) {
    merged[key] = Object.hasOwn(found, key) ? withMissing(found[key], value) : value
  }
  return merged
}
