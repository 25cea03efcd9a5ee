import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePackage } from '../../tools/bundle-package.ts'

const root = join(import.meta.dirname, '../..')

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

/** Packs all packages of this repository into a folder. Builds them elsewhere, because other tests use the dist folders. */
export async function packPackages(folder: string): Promise<PackedPackage[]> {
  // The declarations. `npm test` has already written them.
  execFileSync(process.execPath, [join(root, 'node_modules/ts7/bin/tsc'), '-b'], { cwd: root, stdio: 'inherit' })
  const stage = mkdtempSync(join(tmpdir(), 'kubewright-pack-'))
  const manifests: Manifest[] = []
  for (const name of readdirSync(join(root, 'packages'))) {
    const source = join(root, 'packages', name)
    if (!existsSync(join(source, 'package.json'))) continue
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    if (manifest.private) continue
    const staged = join(stage, name)
    cpSync(source, staged, {
      recursive: true,
      filter: (path) => !/node_modules|\/dist\/(?!page\/).*\.js(?:\.map)?$/.test(path),
    })
    // The settings of the repository that matter: its tsconfig is not found from here.
    await bundlePackage(staged, {
      tsconfigRaw: { compilerOptions: { target: 'esnext', verbatimModuleSyntax: true } },
    })
    manifests.push(manifest)
  }
  const folders = readdirSync(stage).map((name) => `./${name}`)
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, ...folders], { cwd: stage, stdio: 'pipe' })
  rmSync(stage, { recursive: true, force: true })
  return manifests.map((manifest) => ({
    manifest,
    tarball: join(folder, `${manifest.name.replace(/^@/, '').replace('/', '-')}-${manifest.version}.tgz`),
  }))
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
