// Writes each package's JavaScript: one file for each entry point, with shared parts in chunks. What an import costs is the number of
// files (docs/adr/0008-bundled-packages.md). Declarations are tsc's business.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

interface Manifest {
  readonly exports?: Readonly<Record<string, { readonly 'kubewright-source'?: string }>>
  readonly bin?: Readonly<Record<string, string>>
}

const packages = readdirSync('packages').filter((name) => existsSync(join('packages', name, 'package.json')))
for (const name of packages) {
  const folder = join('packages', name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const sources = Object.values(manifest.exports ?? {}).flatMap((entry) => entry['kubewright-source'] ?? [])
  const commands = Object.values(manifest.bin ?? {}).map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts'))
  const entryPoints = [...sources, ...commands].map((file) => join(folder, file)).filter((file) => existsSync(file))
  const outdir = join(folder, 'dist')
  removeScripts(outdir)
  await build({
    entryPoints,
    outdir,
    outbase: join(folder, 'src'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap: true,
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'warning',
  })
}
console.log(`${packages.length} packages bundled`)

/** Removes what an earlier run wrote; declarations stay. */
function removeScripts(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile() && /\.js(\.map)?$/.test(entry.name)) rmSync(join(entry.parentPath, entry.name))
  }
}
