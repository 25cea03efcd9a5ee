// Kubernetes' own descriptions, read from the types of a development dependency, so that the check can compare: ours
// must not repeat them.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join('node_modules', '@kubernetes', 'client-node', 'dist', 'gen', 'models')

/**
 * Returns Kubernetes' descriptions by `version.Type` and field. Types of equal name in several groups share an entry, so
 * a field has a list of texts.
 */
export function kubernetesTexts(): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, Map<string, string[]>>()
  for (const file of readdirSync(folder)) {
    const parts = /^([A-Z][a-z]*?)??(V\d(?:alpha\d|beta\d)?)([A-Z]\w*)\.d\.ts$/.exec(file)
    if (parts === null) continue
    const key = `${parts[2]!.toLowerCase()}.${parts[3]}`
    const fields = found.get(key) ?? new Map<string, string[]>()
    found.set(key, fields)
    const source = readFileSync(join(folder, file), 'utf8')
    for (const [, comment, field = ''] of source.matchAll(
      /\/\*\*\s*\n((?:\s*\* .*\n)+)\s*\*\/\n\s*(?:'([^']+)'\??:|export declare class)/g,
    )) {
      const text = comment!.replace(/^\s*\* /gm, '').trim()
      fields.set(field, [...(fields.get(field) ?? []), text])
    }
  }
  return found
}

/** Returns the share of the four-word sequences of a text that occur in another one, from 0 to 1. */
export function overlap(text: string, other: string): number {
  const [ours, theirs] = [sequences(text), new Set(sequences(other))]
  if (ours.length === 0) return normal(text) === normal(other) ? 1 : 0
  return ours.filter((sequence) => theirs.has(sequence)).length / ours.length
}

const normal = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9 ]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()

function sequences(text: string): string[] {
  const words = normal(text).split(' ')
  return words.slice(3).map((_, index) => words.slice(index, index + 4).join(' '))
}
