// Releases of all packages, which share one version (docs/adr/0018-releases.md).
//   npm run release -- version 0.2.0        set the version everywhere, and the date in CHANGELOG.md
//   npm run release -- check                fail if the packages do not share one version
//   npm run release -- publish [--dry-run]  publish the packages in the order of their dependencies
//   npm run release -- notes                print the section of CHANGELOG.md
//   npm run release -- sbom FILE            write the CycloneDX bill of materials of all packages
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  changesOf,
  inPublishOrder,
  type ReleaseManifest,
  releasedChangelog,
  versionProblems,
  withVersion,
} from './release/one-version.ts'

interface Package extends ReleaseManifest {
  readonly folder: string
}

const pinned = 'packages/cli/src/scaffold/pinned-versions.ts'
const read = (path: string): string => readFileSync(path, 'utf8')
const json = (path: string): ReleaseManifest => JSON.parse(read(path)) as ReleaseManifest
const packages: Package[] = readdirSync('packages')
  .map((name) => join('packages', name))
  .filter((folder) => existsSync(join(folder, 'package.json')))
  .map((folder) => ({ ...json(join(folder, 'package.json')), folder }))
const { version } = json('package.json')

const [command, ...args] = process.argv.slice(2)
if (command === 'version') setVersion(args[0])
else if (command === 'check') check()
else if (command === 'publish') publish(args)
else if (command === 'notes') console.log(changesOf(read('CHANGELOG.md'), version))
else if (command === 'sbom') writeSbom(args[0])
else throw new Error('Usage: npm run release -- version VERSION | check | publish [--dry-run] | notes | sbom FILE')

function setVersion(next: string | undefined): void {
  if (next === undefined || !/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(next))
    throw new Error('Name the version, such as 0.2.0')
  for (const file of ['package.json', ...packages.map(({ folder }) => join(folder, 'package.json'))]) {
    const manifest = json(file)
    writeFileSync(file, `${JSON.stringify(withVersion(manifest, next), undefined, 2)}\n`)
  }
  writeFileSync(pinned, read(pinned).replace(/(kubewrightVersion = ')[^']+'/, `$1${next}'`))
  writeFileSync('CHANGELOG.md', releasedChangelog(read('CHANGELOG.md'), next, new Date().toISOString().slice(0, 10)))
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline'], { stdio: 'inherit' })
  console.log(`Version ${next}. Next: npm run format, npm run check, commit, and push the tag v${next}`)
}

function check(): void {
  const scaffold = /kubewrightVersion = '([^']+)'/.exec(read(pinned))?.[1]
  const problems = versionProblems(packages, version)
  if (scaffold !== version) problems.push(`${pinned} has version ${scaffold}, not ${version}`)
  for (const problem of problems) console.error(problem)
  console.log(`${packages.length} packages, version ${version}, ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

/** Publishes with provenance where the environment can sign it. A version with a label, such as 0.2.0-rc.1, gets the tag next. */
function publish(flags: readonly string[]): void {
  check()
  if (process.exitCode !== 0) return
  const tag = version.includes('-') ? 'next' : 'latest'
  const isSigned = process.env['ACTIONS_ID_TOKEN_REQUEST_URL'] !== undefined && !flags.includes('--dry-run')
  for (const { name, folder, private: isPrivate } of inPublishOrder(packages)) {
    if (isPrivate) continue
    const options = ['--access', 'public', '--tag', tag, ...(isSigned ? ['--provenance'] : []), ...flags]
    execFileSync('npm', ['publish', ...options, `./${folder}`], { stdio: ['ignore', 'ignore', 'inherit'] })
    console.log(`${flags.includes('--dry-run') ? 'would publish' : 'published'} ${name}@${version}`)
  }
}

function writeSbom(file: string | undefined): void {
  if (file === undefined) throw new Error('Name the file, such as sbom.cdx.json')
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'library', '--omit', 'dev', '--package-lock-only']
  const text = execFileSync('npm', ['sbom', ...options], { encoding: 'utf8', maxBuffer: 1 << 28 })
  const { components = [] } = JSON.parse(text) as { components?: unknown[] }
  writeFileSync(file, text)
  console.log(`${file}: ${components.length} components`)
}
