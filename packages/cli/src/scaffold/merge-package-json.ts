import { isRecord } from '../text/is-record.ts'

// Whether and as what a package is published is for those to say whose it is.
const ownersMatter: readonly string[] = ['name', 'version', 'private', 'license', 'repository']

/**
 * Adds to a package.json what it lacks of another one to work, and changes nothing that it has. Undefined for what is no JSON.
 */
export function mergePackageJson(text: string, wanted: string): string | undefined {
  let found: unknown
  try {
    found = JSON.parse(text)
  } catch {
    return undefined
  }
  const needed = Object.entries(JSON.parse(wanted)).filter(([key]) => !ownersMatter.includes(key))
  const merged = withMissing(found, Object.fromEntries(needed))
  if (JSON.stringify(merged) === JSON.stringify(found)) return text
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  '
  return `${JSON.stringify(merged, undefined, indent)}\n`
}

function withMissing(found: unknown, wanted: unknown): unknown {
  if (!isRecord(found) || !isRecord(wanted)) return found
  const merged: Record<string, unknown> = { ...found }
  for (const [key, value] of Object.entries(wanted)) {
    merged[key] = Object.hasOwn(found, key) ? withMissing(found[key], value) : value
  }
  return merged
}
