import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

interface Manifest {
  readonly exports?: Readonly<Record<string, { readonly 'kubewright-source'?: string }>>
}

/**
 * Writes the JavaScript of a package to its folder dist: one file for each entry point, with shared parts in chunks. Returns the paths of
 * the files, relative to the current folder. Entry points are the exports of package.json and the programs: main.ts, which `bin` names,
 * and NAME-main.ts, which other programs of the package start.
 */
export async function bundlePackage(
  folder: string,
  options: Pick<BuildOptions, 'tsconfigRaw'> = {},
): Promise<ReadonlySet<string>> {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const sources = Object.values(manifest.exports ?? {}).flatMap((entry) => entry['kubewright-source'] ?? [])
  const programs = readdirSync(join(folder, 'src')).filter((file) => /^(?:.*-)?main\.ts$/.test(file))
  const { metafile } = await build({
    entryPoints: [...sources, ...programs.map((file) => join('src', file))].map((file) => join(folder, file)),
    outdir: join(folder, 'dist'),
    outbase: join(folder, 'src'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    // Less text to scan at every start. Names stay, and short lines keep reports of uncaught errors readable.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    sourcemap: true,
    // The packages contain the sources.
    sourcesContent: false,
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'warning',
    metafile: true,
    ...options,
  })
  return new Set(Object.keys(metafile.outputs))
}
