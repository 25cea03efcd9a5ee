import { build } from 'esbuild'

/** The packages that a program loads from their own folders: the console has its page there. */
const loaded = ['@kubewright/console']

/**
 * Bundles a program and the packages that it uses into one file, which `loadProgram` of the CLI loads (docs/adr/0025-code-cache.md).
 */
export async function bundleProgram(source: string, out: string): Promise<void> {
  await build({
    entryPoints: [source],
    outfile: out,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    conditions: ['kubewright-source'],
    external: loaded,
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 200,
    // The program is read as Latin-1.
    charset: 'ascii',
    define: { 'import.meta.url': 'programUrl' },
    banner: {
      js: `(function(exports,require,module,__filename,__dirname){const programUrl=require('node:url').pathToFileURL(__filename).href;`,
    },
    footer: { js: '})' },
    logLevel: 'warning',
  })
}
