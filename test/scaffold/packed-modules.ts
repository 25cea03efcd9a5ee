import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePackage } from '../../tools/bundle-package.ts'

const root = join(import.meta.dirname, '../..')

/** Archives of earlier states are deleted after this time, in milliseconds. */
const day = 86_400_000

/** The fields of a package.json that the tests read. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/** A package of this repository as it is published. */
export interface PackedPackage {
  readonly manifest: Manifest
  /** Path of its archive. */
  readonly tarball: string
}

/** Copies the packed packages of this repository into a folder. */
export async function packPackages(folder: string): Promise<PackedPackage[]> {
  const archives = await packedArchives()
  return publishedPackages().map(({ manifest }) => {
    const name = `${manifest.name.replace(/^@/, '').replace('/', '-')}-${manifest.version}.tgz`
    cpSync(join(archives, name), join(folder, name))
    return { manifest, tarball: join(folder, name) }
  })
}

/**
 * The folder with the archives of all packages. Several test files need it, and packing takes long, so the first one of
 * them packs and the others use its result: the name of the folder depends on all files of the packages.
 */
async function packedArchives(): Promise<string> {
  // The declarations. `npm test` has already written them.
  execFileSync(process.execPath, [join(root, 'node_modules/ts7/bin/tsc'), '-b'], { cwd: root, stdio: 'inherit' })
  const cache = join(root, 'node_modules', '.cache', 'kubewright-packed')
  const done = join(cache, stateOfPackages())
  if (existsSync(done)) return done
  mkdirSync(cache, { recursive: true })
  for (const name of readdirSync(cache)) {
    // Another test file may have renamed its folder meanwhile.
    const facts = statSync(join(cache, name), { throwIfNoEntry: false })
    if (facts && Date.now() - facts.mtimeMs > day) rmSync(join(cache, name), { recursive: true, force: true })
  }
  const own = mkdtempSync(join(cache, 'packing-'))
  await pack(own)
  renameUnlessDone(own, done)
  return done
}

/**
 * A node_modules folder with the packed packages, shared by all tests that do not change it. Programs start several times faster from it than
 * from the sources.
 */
export async function packedModules(): Promise<string> {
  const archives = await packedArchives()
  const done = join(archives, 'installed')
  if (!existsSync(done)) {
    const own = mkdtempSync(join(archives, 'installing-'))
    await installPacked(own)
    renameUnlessDone(own, done)
  }
  return join(done, 'node_modules')
}

/** Renames a folder to its final name. Deletes it if another test file was faster. */
function renameUnlessDone(own: string, done: string): void {
  try {
    renameSync(own, done)
  } catch (error) {
    if (!existsSync(done)) throw error
    rmSync(own, { recursive: true, force: true })
  }
}

/** Builds and packs all packages. Builds them elsewhere, because other tests use the dist folders. */
async function pack(folder: string): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), 'kubewright-pack-'))
  for (const { name, source } of publishedPackages()) {
    const staged = join(stage, name)
    cpSync(source, staged, {
      recursive: true,
      filter: (path) => !/node_modules|\/dist\/(?!page\/).*\.js(?:\.map)?$/.test(path),
    })
    // The settings of the repository that matter: its tsconfig is not found from here.
    await bundlePackage(staged, {
      tsconfigRaw: { compilerOptions: { target: 'esnext', verbatimModuleSyntax: true } },
    })
  }
  const folders = readdirSync(stage).map((name) => `./${name}`)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, ...folders], { cwd: stage, stdio: 'pipe' })
  rmSync(stage, { recursive: true, force: true })
}

function publishedPackages(): { readonly name: string; readonly source: string; readonly manifest: Manifest }[] {
  return readdirSync(join(root, 'packages')).flatMap((name) => {
    const source = join(root, 'packages', name)
    if (!existsSync(join(source, 'package.json'))) return []
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    return manifest.private ? [] : [{ name, source, manifest }]
  })
}

/** A digest of the names, sizes and times of all files that become part of a package. */
function stateOfPackages(): string {
  const hash = createHash('sha256')
  for (const { source } of publishedPackages()) {
    for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' }).sort()) {
      if (file.includes('node_modules') || file.endsWith('.tsbuildinfo')) continue
      const facts = statSync(join(source, file))
      if (facts.isFile()) hash.update(`${file} ${facts.size} ${facts.mtimeMs}\n`)
    }
  }
  return hash.digest('hex').slice(0, 20)
}

/** Fills a project's node_modules as npm does: with packed packages of this repository, and links to all other installed packages. */
export async function installPacked(project: string): Promise<void> {
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  const link = (name: string, target = name): void => {
    if (existsSync(join(modules, name))) return
    symlinkSync(join(root, 'node_modules', target), join(modules, name))
  }
  const archives = mkdtempSync(join(tmpdir(), 'kubewright-packed-'))
  for (const { manifest, tarball } of await packPackages(archives)) {
    mkdirSync(join(modules, manifest.name), { recursive: true })
    execFileSync('tar', ['-xzf', tarball, '-C', join(modules, manifest.name), '--strip-components=1'])
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      if (!dependency.includes('kubewright')) link(dependency)
    }
  }
  rmSync(archives, { recursive: true, force: true })
  for (const name of ['@types', 'tsx', 'vitest']) link(name)
  link('typescript', 'ts7')
  const bins = {
    kubewright: '@kubewright/cli/bin/kubewright.js',
    tsc: 'typescript/bin/tsc',
    vitest: 'vitest/vitest.mjs',
  }
  for (const [name, file] of Object.entries(bins)) symlinkSync(join('..', file), join(modules, '.bin', name))
  chmodSync(join(modules, bins.kubewright), 0o755)
}
