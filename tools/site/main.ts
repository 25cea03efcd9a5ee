// `npm run docs` serves the site and renews it at every request; `npm run docs -- build [FOLDER]` writes it to
// dist/site, and with `--version 0.1` the site of a release into a folder beside those of other versions;
// `npm run docs -- check` reports its problems; `npm run docs -- generate` renews generated pages and diagrams;
// `npm run docs -- measure` prints figures of three pages in a browser.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildSite, type Site, sizeOf } from './build-site.ts'
import { writeDiagrams } from './diagrams/diagram-files.ts'
import { writeCodeLinks } from './error-page.ts'
import { writeSchemaPage } from './schema-page.ts'
import { writeSite, writeVersion } from './write-site.ts'

const root = join(import.meta.dirname, '..', '..')
const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { version: { type: 'string' } } })
const [command = 'serve', argument] = positionals
if (command === 'serve') await serve(Number(argument ?? 8086))
else if (command === 'build') {
  const folder = argument ?? join(root, 'dist', 'site')
  const site = await buildSite(root, values.version)
  if (values.version === undefined) writeSite(site, folder)
  else writeVersion(site, folder, values.version)
  report(site)
  console.log(`Written to ${join(folder, values.version ?? '')}`)
} else if (command === 'check') report(await buildSite(root))
else if (command === 'measure') {
  const { measureSite } = await import('./measure-site.ts')
  await measureSite(await buildSite(root), types)
} else if (command === 'generate') {
  writeDiagrams(join(root, 'docs'))
  writeSchemaPage(root)
  writeCodeLinks(root)
} else {
  console.error(
    `Unknown command ${command}. Use: npm run docs [-- serve [PORT] | build [FOLDER] [--version VERSION] | check | generate | measure]`,
  )
  process.exitCode = 2
}

function report({ files, problems }: Site): void {
  for (const problem of problems) console.error(problem)
  const pages = [...files.keys()].filter((name) => name.endsWith('.html')).length
  const size = (sizeOf(files) / 1e6).toFixed(1)
  console.log(`${pages} pages, ${files.size} files, ${size} MB, ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}

async function serve(port: number): Promise<void> {
  let site = await buildSite(root)
  const server = createServer((request, response) => void answer(request, response))
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname).slice(1)
    if (path === '' || path.endsWith('.html')) site = await buildSite(root)
    const name = path === '' ? 'index.html' : path
    const content = site.files.get(name)
    response.writeHead(content === undefined ? 404 : 200, { 'content-type': types[extname(name)] ?? 'text/plain' })
    response.end(content ?? 'not found')
  }
  server.listen(port, '127.0.0.1', () => {
    report(site)
    process.exitCode = 0
    console.log(`Serving http://127.0.0.1:${port}. Press Ctrl-C to stop.`)
  })
}
