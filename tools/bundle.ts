// Writes the JavaScript of each package: one file per entry point, with shared code in chunks. The number of files
// determines the cost of an import (docs/adr/0008-bundled-packages.md). tsc writes the declarations.
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
  const { metafile } = await build({
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
    // The packages contain the sources themselves.
    sourcesContent: false,
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'warning',
    metafile: true,
  })
  // After the build, so that a failed build keeps the previous output.
  removeOthers(outdir, new Set(Object.keys(metafile.outputs)))
}
console.log(`${packages.length} packages bundled`)

/** Removes scripts of earlier builds. Declarations stay. */
function removeOthers(folder: string, written: ReadonlySet<string>): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile() && /\.js(\.map)?$/.test(entry.name) && !written.has(file)) rmSync(file)
  }
}
