// Checks the descriptions of the built-in API (packages/k8s/descriptions): every definition and field has one, each is a
// short sentence, none repeats that of Kubernetes, and the generated files are up to date.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describedSchema } from '../packages/k8s/src/descriptions.ts'
import { shortName } from '../packages/k8s/src/internal/definition-name.ts'
import { kubernetes, releaseVersions } from '../packages/k8s/src/releases.ts'
import { kubernetesTexts, overlap } from './generate-k8s/kubernetes-texts.ts'
import { packageFacts } from './generate-k8s/package-facts.ts'
import { readDescriptions } from './generate-k8s/read-descriptions.ts'
import { writePackage } from './generate-k8s/write-package.ts'

const shortest = 20
const longest = 125
// The share of four-word sequences that a description may have in common with Kubernetes' text about the same field.
const allowedOverlap = 0.4

const problems: string[] = []
const source = join('packages', 'k8s', 'src')
for (const [path, text] of writePackage(packageFacts())) {
  if (readFileSync(join(source, path), 'utf8') !== text)
    problems.push(`${source}/${path} is out of date: npm run generate renews it`)
}

/** The names of the fields of each definition, by table and local name; the empty name is the definition itself. */
const definitions = new Map<string, Set<string>>()
const releases = await Promise.all(releaseVersions.map((version) => kubernetes(version)))
let described = 0
let total = 0
for (const [release, name] of releases.flatMap((one) => one.schemaNames().map((name) => [one, name] as const))) {
  const { table, local } = shortName(name)!
  const { description, properties = {} } = describedSchema(release, name, 'v3')
  const texts = {
    '': description,
    ...Object.fromEntries(Object.entries(properties).map(([f, s]) => [f, s.description])),
  }
  const key = `${table} ${local}`
  const known = definitions.get(key) ?? new Set<string>()
  definitions.set(key, known)
  for (const [field, text] of Object.entries(texts)) {
    if (known.has(field)) continue
    known.add(field)
    total++
    if (text === undefined) problems.push(`${table} ${local}.${field} has no description`)
    else described++
  }
}

const originals = kubernetesTexts()
const written: string[] = []
for (const [table, texts] of readDescriptions()) {
  for (const [local, fields] of Object.entries(texts)) {
    const known = definitions.get(`${table} ${local}`)
    if (table !== 'shared' && known === undefined) problems.push(`${table} has no definition ${local}`)
    for (const [field, text] of Object.entries(fields)) {
      written.push(text)
      if (known?.has(field) === false) problems.push(`${table} ${local} has no field ${field}`)
      const problem = problemOf(text, originals.get(`${table.split('/')[1]}.${local}`)?.get(field) ?? [])
      if (problem !== undefined) problems.push(`${table} ${local}.${field} ${problem}: ${text}`)
    }
  }
}

const shown = 100
for (const problem of problems.slice(0, shown)) console.error(problem)
if (problems.length > shown) console.error(`… and ${problems.length - shown} more`)
const mean = Math.round(written.reduce((sum, text) => sum + text.length, 0) / written.length)
console.log(
  `${described} of ${total} definitions and fields are described, by ${written.length} texts with ${mean} characters on average`,
)
process.exitCode = problems.length === 0 ? 0 : 1

/** Returns what is wrong with a description; undefined if nothing is. */
function problemOf(text: string, theirs: readonly string[]): string | undefined {
  if (text.length < shortest || text.length > longest)
    return `has ${text.length} instead of ${shortest} to ${longest} characters`
  if (!/^[\p{L}\p{N}]\P{C}*[^.]\.$/u.test(text) || /[.!?] \p{Lu}/u.test(text)) return 'is not one sentence'
  // The texts are in comments and in template strings.
  if (/[`\\]|\*\/|\$\{/.test(text)) return 'contains a character sequence that source code cannot contain'
  const close = theirs.find((original) => overlap(text, original) > allowedOverlap)
  return close === undefined ? undefined : `is too close to Kubernetes' text (${close.slice(0, 100)})`
}
