import { join } from 'node:path'
import { build } from 'esbuild'

/**
 * Bundles programs of a suite from the sources of the packages, with the options of `kubewright build` and of the published packages, so that
 * their starts cost what those of built programs cost.
 */
export async function bundlePrograms(folder: string, names: readonly string[], out: string): Promise<void> {
  await build({
    entryPoints: names.map((name) => join(folder, `${name}.ts`)),
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['kubewright-source'],
    external: ['@kubernetes/client-node'],
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 200,
    logLevel: 'warning',
  })
}
