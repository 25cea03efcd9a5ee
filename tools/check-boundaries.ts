// Holds the packages to the table in ARCHITECTURE.md: what a package imports, what its package.json depends on and what its tsconfig
// references must all be allowed there, and the table must name every package. The docs cannot lie, because this reads them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const root = process.cwd()
const complaints: string[] = []

/** Rows of the table: package name to the packages that it may import directly. */
function readTable(): Map<string, ReadonlySet<string>> {
  const table = new Map<string, ReadonlySet<string>>()
  for (const line of readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('\n')) {
    const row = /^\| `([a-z0-9]+)` \|.*\| ([^|]*) \|$/.exec(line)
    if (row) table.set(row[1]!, new Set([...row[2]!.matchAll(/`([a-z0-9]+)`/g)].map((m) => m[1]!)))
  }
  if (table.size === 0) throw new Error('ARCHITECTURE.md has no table of packages')
  return table
}

/** Allowed imports with all that those allow in turn. */
function closure(table: ReadonlyMap<string, ReadonlySet<string>>, name: string): ReadonlySet<string> {
  const seen = new Set<string>()
  const visit = (current: string): void => {
    for (const next of table.get(current) ?? []) {
      if (seen.has(next)) continue
      seen.add(next)
      visit(next)
    }
  }
  visit(name)
  return seen
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(test|test-d|bench)\.ts$/.test(entry.name))
    .filter((entry) => !entry.parentPath.split('/').includes('testdata'))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** The workspace package that a module specifier names, if any. */
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

const table = readTable()
const everything = new Set(table.keys())
for (const name of readdirSync(join(root, 'packages'))) {
  const folder = join(root, 'packages', name)
  if (!existsSync(join(folder, 'package.json'))) continue
  if (!table.has(name)) {
    complaints.push(`packages/${name} is not in the table of ARCHITECTURE.md`)
    continue
  }
  const allowed = name === 'cli' ? everything : closure(table, name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  // A peer that is named among the notes on peers alone is one of any version.
  const peers = Object.keys(manifest.peerDependenciesMeta ?? {}).map((peer) => [peer, manifest.version])
  const declared: Readonly<Record<string, string>> = {
    ...Object.fromEntries(peers),
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  }
  const references = JSON.parse(readFileSync(join(folder, 'tsconfig.json'), 'utf8')) as {
    references?: { path: string }[]
  }
  const referenced = new Set((references.references ?? []).map((r) => r.path.replace(/^\.\.\//, '')))

  for (const [dependency, version] of Object.entries(declared)) {
    const target = workspaceName(dependency)
    if (target === undefined) continue
    if (!allowed.has(target))
      complaints.push(`packages/${name}/package.json depends on ${dependency}, which the table does not allow`)
    if (version !== manifest.version)
      complaints.push(
        `packages/${name}/package.json wants ${dependency} ${version}; all packages share version ${manifest.version}`,
      )
    if (!referenced.has(target)) complaints.push(`packages/${name}/tsconfig.json lacks a reference to ../${target}`)
  }
  for (const target of referenced) {
    if (!allowed.has(target))
      complaints.push(`packages/${name}/tsconfig.json references ../${target}, which the table does not allow`)
  }
  for (const file of sourceFiles(join(folder, 'src'))) {
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8')).importedFiles) {
      const where = file.slice(root.length + 1)
      const target = workspaceName(fileName)
      if (target !== undefined) {
        if (target === name)
          complaints.push(`${where} imports its own package by name (${fileName}); use a relative path`)
        else if (!allowed.has(target))
          complaints.push(`${where} imports ${fileName}, which the table does not allow for ${name}`)
        else if (
          !(
            fileName
              .split('/')
              .slice(0, fileName.startsWith('@') ? 2 : 1)
              .join('/') in declared
          )
        )
          complaints.push(`${where} imports ${fileName}, which packages/${name}/package.json does not list`)
      } else if (fileName.startsWith('..') && !join(file, '..', fileName).startsWith(join(folder, 'src'))) {
        complaints.push(`${where} imports ${fileName}, outside of its package`)
      } else if (!fileName.startsWith('.') && !fileName.startsWith('node:')) {
        const bare = fileName
          .split('/')
          .slice(0, fileName.startsWith('@') ? 2 : 1)
          .join('/')
        if (!(bare in declared))
          complaints.push(`${where} imports ${fileName}, which packages/${name}/package.json does not list`)
      }
    }
  }
}

for (const complaint of complaints) console.error(complaint)
console.log(
  complaints.length === 0
    ? `boundaries hold for ${table.size} packages in the table`
    : `${complaints.length} boundary violations`,
)
process.exitCode = complaints.length === 0 ? 0 : 1
