// Writes the generated facts of Kubernetes in the packages k8s and server, and the descriptions of packages/k8s/descriptions.
//   npm run generate                                         after a change of a description
//   npm run generate -- --recording FOLDER --types CHECKOUT  adds or replaces a release
//   npm run generate -- --default 1.36                       makes another release the default one
// FOLDER is written by `npm run record`; CHECKOUT has the sources of the same release of Kubernetes. All other facts are read back from the
// packages, which have them without loss. The result is compared with the facts after it has been written.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { defaultRelease, kubernetes, releaseVersions } from '../packages/k8s/src/releases.ts'
import { type ApiFacts, factsOf, type PublishedSchema } from './generate-k8s/api-facts.ts'
import { verify } from './generate-k8s/verify.ts'
import { writePackage } from './generate-k8s/write-package.ts'
import { bootstrapPolicyIn } from './record/bootstrap-policy.ts'
import { goTypesIn } from './record/go-types.ts'
import { lockedGates } from './record/locked-gates.ts'
import { joinedFields, protobufFieldsIn } from './record/protobuf-fields.ts'
import { readRecording } from './record/read-recording.ts'
import { packageFieldNumbers, packageRecord } from './record/server-facts.ts'
import {
  minorOf,
  moduleOf,
  type ReleaseRecord,
  writeApiChanges,
  writeBootstrapChanges,
  writeBootstrapPolicy,
  writeFeatureGates,
  writeGoChanges,
  writeGoTypes,
  writeLoaders,
  writeProtobufFields,
} from './record/write-release.ts'

const { values } = parseArgs({
  options: {
    recording: { type: 'string' },
    types: { type: 'string' },
    default: { type: 'string' },
    verify: { type: 'string' },
  },
})

if (values.verify !== undefined) {
  // Runs in a process of its own, which loads the new modules.
  const published = JSON.parse(readFileSync(values.verify, 'utf8')) as PublishedFacts[]
  for (const { gitVersion, v3, v2, groups } of published) {
    console.log(verify(await kubernetes(gitVersion), factsOf(gitVersion, v3, v2, groups)))
  }
} else {
  const records = new Map<string, ReleaseRecord>()
  for (const version of releaseVersions) records.set(version, await packageRecord(await kubernetes(version)))
  let fields = packageFieldNumbers
  if (values.recording !== undefined) {
    if (values.types === undefined)
      throw new Error('--recording needs --types, a folder with the sources of the release')
    const { api, gates } = readRecording(values.recording)
    const goTypes = goTypesIn(values.types, [...api.kinds.values()])
    fields = joinedFields(fields, protobufFieldsIn(values.types, goTypes))
    const locked = lockedGates(values.types, api.gitVersion)
    const names = (isOn: boolean, isLocked: boolean): string =>
      [...gates]
        .filter(([name, on]) => on === isOn && locked.has(name) === isLocked)
        .map(([name]) => name)
        .join(' ')
    records.set(minorOf(api.gitVersion), {
      api,
      gates: {
        on: names(true, false),
        off: names(false, false),
        lockedOn: names(true, true),
        lockedOff: names(false, true),
      },
      goTypes,
      bootstrap: bootstrapPolicyIn(values.recording),
    })
  }
  write(records, values.default ?? defaultRelease.version, fields)
  const folder = mkdtempSync(join(tmpdir(), 'kubewright-facts-'))
  try {
    const file = join(folder, 'facts.json')
    writeFileSync(file, JSON.stringify([...records.values()].map(({ api }) => publishedFacts(api))))
    const args = [...process.execArgv, import.meta.filename, '--verify', file]
    process.exitCode = spawnSync(process.execPath, args, { stdio: 'inherit' }).status ?? 1
  } finally {
    rmSync(folder, { recursive: true })
  }
}

interface PublishedFacts extends Pick<ApiFacts, 'gitVersion' | 'v2' | 'groups'> {
  readonly v3: Readonly<Record<string, PublishedSchema>>
}

function publishedFacts({ gitVersion, v2, groups, tables }: ApiFacts): PublishedFacts {
  const v3 = Object.fromEntries([...tables.values()].flat().map(({ published, schema }) => [published, schema]))
  return { gitVersion, v3, v2, groups }
}

function write(
  records: ReadonlyMap<string, ReleaseRecord>,
  chosen: string,
  fields: Readonly<Record<string, string>>,
): void {
  const base = records.get(chosen)
  if (!base) throw new Error(`There are no facts of Kubernetes ${chosen}: record it first`)
  const others = [...records].filter(([version]) => version !== chosen).sort(([a], [b]) => (a < b ? -1 : 1))
  const versions = others.map(([version]) => version)
  const k8s = writePackage(base.api)
  k8s.set('generated/feature-gates.ts', writeFeatureGates(base.gates))
  k8s.set(
    'generated/release-loaders.ts',
    writeLoaders(versions, 'ReleaseChanges', `import type { ReleaseChanges } from '../derive-release.ts'`),
  )
  const codec = new Map([
    ['go-types.ts', writeGoTypes(base.goTypes)],
    ['protobuf-fields.ts', writeProtobufFields(fields)],
    ['release-loaders.ts', writeLoaders(versions, 'Readonly<Record<string, string>>', '')],
  ])
  const bootstrap = new Map([
    ['bootstrap-rbac.ts', writeBootstrapPolicy(base.bootstrap)],
    [
      'release-loaders.ts',
      writeLoaders(versions, 'BootstrapChanges', `import type { BootstrapChanges } from '../bootstrap-policy.ts'`),
    ],
  ])
  for (const [version, record] of others) {
    const file = `releases/${moduleOf(version)}.ts`
    k8s.set(`generated/${file}`, writeApiChanges(base.api, record))
    codec.set(file, writeGoChanges(base, record))
    bootstrap.set(file, writeBootstrapChanges(base.bootstrap, record))
  }
  const packages = join(import.meta.dirname, '..', 'packages')
  rmSync(join(packages, 'k8s/src/generated'), { recursive: true, force: true })
  save(join(packages, 'k8s/src'), k8s)
  save(join(packages, 'server/src/codec/generated'), codec)
  save(join(packages, 'server/src/bootstrap/generated'), bootstrap)
  updateManifest(join(packages, 'k8s/package.json'), [...base.api.tables.keys()])
}

function save(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** The subpaths of the package follow from the tables. */
function updateManifest(file: string, tables: readonly string[]): void {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  const entry = (path: string): object => ({
    'kubewright-source': `./src/${path}.ts`,
    types: `./dist/${path}.d.ts`,
    default: `./dist/${path}.js`,
  })
  manifest['exports'] = {
    '.': entry('index'),
    ...Object.fromEntries(
      ['descriptions', 'discovery', 'releases', 'schemas'].map((name) => [`./${name}`, entry(name)]),
    ),
    ...Object.fromEntries(tables.map((table) => [`./${table}`, entry(`generated/${table}`)])),
  }
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
}
