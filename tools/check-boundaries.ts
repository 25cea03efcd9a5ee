// Compares the packages with the import tables of ARCHITECTURE.md, so that the tables stay true. A package's imports, the
// dependencies in its package.json and the references in its tsconfig.json must be allowed by the table of packages, imports
// between its rooms by the table of its rooms. No files of a package may load each other in a cycle. The maps for readers
// (AGENTS.md, README.md, the list of dependencies) name every package and dependency, and the files that they name exist.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type MappedPackage, mapProblems } from './boundaries/check-maps.ts'
import { checkFileCycles, checkRooms } from './boundaries/check-rooms.ts'
import { allowedImports, readLayerTables, tableProblems } from './boundaries/layer-tables.ts'
import { lineCountProblems } from './boundaries/line-counts.ts'
import { namedFileProblems } from './boundaries/named-files.ts'
import { importsOf, sourceFiles } from './boundaries/source-imports.ts'

const root = process.cwd()
const problems: string[] = []

/** Returns the workspace package that a module specifier refers to, if any. */
function workspaceName(specifier: string): string | undefined {
  const scoped = /^@kubewright\/([^/]+)/.exec(specifier)
  return scoped ? scoped[1] : /^kubewright(\/|$)/.test(specifier) ? 'kubewright' : undefined
}

interface Manifest {
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, object>>
}

const { packages: table, rooms } = readLayerTables(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'))
problems.push(...tableProblems('The packages', table))
const everything = new Set(table.keys())
const mapped: MappedPackage[] = []
for (const name of readdirSync(join(root, 'packages'))) {
  const folder = join(root, 'packages', name)
  if (!existsSync(join(folder, 'package.json'))) continue
  if (!table.has(name)) {
    problems.push(`packages/${name} is not in the table of ARCHITECTURE.md`)
    continue
  }
  const allowed = name === 'cli' ? everything : allowedImports(table, name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  // A peer that is listed only in peerDependenciesMeta may have any version.
  const peers = Object.keys(manifest.peerDependenciesMeta ?? {}).map((peer) => [peer, manifest.version])
  const declared: Readonly<Record<string, string>> = {
    ...Object.fromEntries(peers),
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  }
  const thirdParty = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })
  mapped.push({ folder: name, dependencies: thirdParty.filter((dep) => workspaceName(dep) === undefined) })
  const references = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')) as {
    references?: { path: string }[]
  }
  const referenced = new Set((references.references ?? []).map((r) => r.path.replace(/^\.\.\//, '')))

  for (const [dependency, version] of Object.entries(declared)) {
    const target = workspaceName(dependency)
    if (target === undefined) continue
    if (!allowed.has(target))
      problems.push(`packages/${name}/package.json depends on ${dependency}, which the table does not allow`)
    if (version !== manifest.version)
      problems.push(
        `packages/${name}/package.json requires ${dependency} ${version}; all packages share version ${manifest.version}`,
      )
    if (!referenced.has(target)) problems.push(`packages/${name}/tsconfig.json lacks a reference to ../${target}`)
  }
  for (const target of referenced) {
    if (!allowed.has(target))
      problems.push(`packages/${name}/tsconfig.json references ../${target}, which the table does not allow`)
  }
  for (const file of sourceFiles(join(folder, 'src'))) {
    for (const { specifier: fileName } of importsOf(file)) {
      const where = file.slice(root.length + 1)
      const target = workspaceName(fileName)
      if (target !== undefined) {
        if (target === name)
          problems.push(`${where} imports its own package by name (${fileName}); use a relative path`)
        else if (!allowed.has(target))
          problems.push(`${where} imports ${fileName}, which the table does not allow for ${name}`)
        else if (
          !(
            fileName
              .split('/')
              .slice(0, fileName.startsWith('@') ? 2 : 1)
              .join('/') in declared
          )
        )
          problems.push(`${where} imports ${fileName}, which packages/${name}/package.json does not list`)
      } else if (fileName.startsWith('..') && !join(file, '..', fileName).startsWith(join(folder, 'src'))) {
        problems.push(`${where} imports ${fileName}, outside of its package`)
      } else if (!fileName.startsWith('.') && !fileName.startsWith('node:')) {
        const bare = fileName
          .split('/')
          .slice(0, fileName.startsWith('@') ? 2 : 1)
          .join('/')
        if (!(bare in declared))
          problems.push(`${where} imports ${fileName}, which packages/${name}/package.json does not list`)
      }
    }
  }
  const roomTable = rooms.get(name)
  if (roomTable) problems.push(...checkRooms(name, join(folder, 'src'), roomTable))
  problems.push(...checkFileCycles(name, join(folder, 'src')))
}

for (const name of everything)
  if (!mapped.some(({ folder }) => folder === name))
    problems.push(`ARCHITECTURE.md has a row for ${name}, which does not exist`)
const page = (path: string): string => readFileSync(join(root, path), 'utf8')
const maps = {
  agents: page('AGENTS.md'),
  readme: page('README.md'),
  dependencies: page('docs/adr/0002-runtime-dependencies.md'),
}
problems.push(...mapProblems(mapped, maps))

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
}).split('\n')
for (const name of ['AGENTS.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'])
  problems.push(...namedFileProblems(name, page(name), files))

const linesOf = (folder: string): number =>
  sourceFiles(join(root, folder)).reduce((sum, file) => sum + readFileSync(file, 'utf8').split('\n').length - 1, 0)
for (const name of readdirSync(join(root, 'docs/adr'), 'utf8'))
  problems.push(...lineCountProblems(`docs/adr/${name}`, page(join('docs/adr', name)), linesOf))

for (const problem of problems) console.error(problem)
console.log(
  problems.length === 0
    ? `boundaries hold for ${table.size} packages and the rooms of ${[...rooms.keys()].join(', ') || 'none'}`
    : `${problems.length} boundary violations`,
)
process.exitCode = problems.length === 0 ? 0 : 1
