// The page of the console: bundled and minified into a few files, which packages/console/dist/page contains when packed.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const folder = join(import.meta.dirname, '..', 'packages', 'console', 'page')

/** Builds the page in memory. Returns its files by name. */
export async function buildPage(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: join(folder, 'src', 'main.tsx'), out: 'page' },
      { in: join(folder, 'src', 'page.css'), out: 'page' },
    ],
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'inline',
    logLevel: 'warning',
    write: false,
  })
  const files = outputFiles.map(({ path, text }) => [path.slice(folder.length + 1), text] as const)
  const copied = ['index.html', 'icon.svg'].map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
  return Object.fromEntries([...copied, ...files])
}

/** Builds the page into the package. */
export async function writePage(): Promise<void> {
  const out = join(folder, '..', 'dist', 'page')
  mkdirSync(out, { recursive: true })
  for (const [name, text] of Object.entries(await buildPage())) writeFileSync(join(out, name), text)
}
