// Prints what differs between two releases of Kubernetes: kinds, fields, feature gates, roles, and the rules in the code.
//   npm run releases -- diff 1.35 1.36
import { kubernetes, type Release, releaseVersions } from '../packages/k8s/src/releases.ts'
import { policyOf } from '../packages/server/src/bootstrap/bootstrap-policy.ts'
import { releaseRules } from './releases/release-rules.ts'

const [command, from, to] = process.argv.slice(2)
if (command !== 'diff' || from === undefined || to === undefined) {
  throw new Error(`Usage: npm run releases -- diff VERSION VERSION, with two of ${releaseVersions.join(', ')}`)
}
const [before, after] = [await kubernetes(from), await kubernetes(to)]

print('Resources', resourcesOf(before), resourcesOf(after))
print('Fields', fieldsOf(before), fieldsOf(after))
print('Feature gates', gatesOf(before), gatesOf(after))
print('Bootstrap roles', await rolesOf(before), await rolesOf(after))
const rules = await releaseRules()
print(
  'Behaviour',
  rules.filter((rule) => before.has(rule)).map(({ summary }) => summary),
  rules.filter((rule) => after.has(rule)).map(({ summary }) => summary),
)

/** Prints the lines that only one of both has. */
function print(title: string, first: readonly string[], second: readonly string[]): void {
  const [one, other] = [new Set(first), new Set(second)]
  const lines = [
    ...first.filter((line) => !other.has(line)).map((line) => `- ${line}`),
    ...second.filter((line) => !one.has(line)).map((line) => `+ ${line}`),
  ]
  console.log(`${title}: ${lines.length === 0 ? 'no difference' : ''}`)
  for (const line of lines) console.log(`  ${line}`)
}

function resourcesOf({ groups }: Release): string[] {
  return groups.flatMap(({ group, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.flatMap(({ resource, kind, verbs, subresources = [] }) => [
        `${group === '' ? '' : `${group}/`}${version} ${resource} (${kind}): ${verbs.join(',')}`,
        ...subresources.map(({ name }) => `${group === '' ? '' : `${group}/`}${version} ${resource}/${name}`),
      ]),
    ),
  )
}

function fieldsOf(release: Release): string[] {
  return release.schemaNames().flatMap((name) => {
    const { properties = {}, required = [] } = release.publishedSchema(name, 'v3')
    const short = name.replace(/^io\.k8s\.(api|apimachinery\.pkg\.apis)\./, '')
    return Object.entries(properties).map(([field, schema]) => {
      const { description: _, ...shape } = schema
      return `${short}.${field}${required.includes(field) ? ' (required)' : ''} ${JSON.stringify(shape)}`
    })
  })
}

function gatesOf({ featureGates }: Release): string[] {
  return [...featureGates]
    .map(([name, gate]) => `${name} ${gate.default ? 'on' : 'off'}${gate.isLocked ? ', locked' : ''}`)
    .sort()
}

async function rolesOf({ version }: Release): Promise<string[]> {
  const { roles, bindings } = await policyOf(version)
  return [...roles, ...bindings].map((one) => JSON.stringify(one))
}
