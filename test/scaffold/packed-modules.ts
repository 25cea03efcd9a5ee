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
import { build } from 'esbuild'

const root = join(import.meta.dirname, '../..')

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, { readonly 'kubewright-source'?: string }>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
}

/**
 * Fills a project's node_modules with what npm would: packages of this repository as packed, not as linked; everything else is linked to
 * what is installed here. Packages are built beside the repository, so that nobody is disturbed who uses its dist folders.
 */
export async function installPacked(project: string): Promise<void> {
  const stage = mkdtempSync(join(tmpdir(), 'kubewright-pack-'))
  // Declarations; there is nothing to do after `npm test` has begun with the same.
  execFileSync(process.execPath, [join(root, 'node_modules/ts7/bin/tsc'), '-b'], { cwd: root, stdio: 'inherit' })
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  const link = (name: string, target = name): void => {
    if (existsSync(join(modules, name))) return
    symlinkSync(join(root, 'node_modules', target), join(modules, name))
  }
  for (const folder of readdirSync(join(root, 'packages'))) {
    const source = join(root, 'packages', folder)
    if (!existsSync(join(source, 'package.json'))) continue
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    if (manifest.private) continue
    const staged = join(stage, folder)
    cpSync(source, staged, { recursive: true, filter: (path) => !/node_modules|\/dist\/.*\.js(?:\.map)?$/.test(path) })
    await bundle(source, join(staged, 'dist'), manifest)
    execFileSync('npm', ['pack', '--silent', '--pack-destination', stage, staged], { cwd: stage })
    const tarball = readdirSync(stage).find((file) => file.endsWith('.tgz'))!
    mkdirSync(join(modules, manifest.name), { recursive: true })
    execFileSync('tar', ['-xzf', join(stage, tarball), '-C', join(modules, manifest.name), '--strip-components=1'])
    rmSync(join(stage, tarball))
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      if (!dependency.includes('kubewright')) link(dependency)
    }
  }
  for (const name of ['@types', 'tsx', 'vitest']) link(name)
  link('typescript', 'ts7')
  const bins = { kubewright: '@kubewright/cli/dist/main.js', tsc: 'typescript/bin/tsc', vitest: 'vitest/vitest.mjs' }
  for (const [name, file] of Object.entries(bins)) symlinkSync(join('..', file), join(modules, '.bin', name))
  chmodSync(join(modules, bins.kubewright), 0o755)
  rmSync(stage, { recursive: true, force: true })
}

/** Writes the scripts of a package as tools/bundle.ts does. */
async function bundle(source: string, outdir: string, manifest: Manifest): Promise<void> {
  const sources = Object.values(manifest.exports ?? {}).flatMap((entry) => entry['kubewright-source'] ?? [])
  const commands = Object.values(manifest.bin ?? {}).map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts'))
  await build({
    entryPoints: [...sources, ...commands].map((file) => join(source, file)).filter((file) => existsSync(file)),
    outdir,
    outbase: join(source, 'src'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'warning',
  })
}
