import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type OutputFile } from 'esbuild'
import { checkPictures } from '../pictures/check-pictures.ts'
import { apiPages } from './api-pages.ts'
import { benchmarkPage } from './benchmark-page.ts'
import { checkExcerpts } from './check-excerpts.ts'
import { checkLinks } from './check-links.ts'
import { checkDiagrams } from './diagrams/diagram-files.ts'
import { checkCodes, checkErrorPage, withErrorMessages } from './error-page.ts'
import { hintsOf } from './hints.ts'
import { layOut } from './layout.ts'
import { addressOf, hintsAddressOf, type Language, languages, type Page, readNavigation, readPages } from './page.ts'
import { renderPage } from './render-page.ts'
import { checkSchemaPage } from './schema-page.ts'
import { indexPages } from './search-index.ts'
import { checkTranslations } from './translations.ts'

/** The built site: its files by address, and the problems of its sources. */
export interface Site {
  readonly files: ReadonlyMap<string, string | Buffer>
  readonly problems: readonly string[]
}

const address = 'https://github.com/kubewright/kubewright'

/** The largest size of the whole site. */
const limit = 15_000_000

/** Generated pages, which are created once per process. */
let generated: Page[] | undefined

/**
 * Builds the site of a repository in memory. Broken links and other mistakes are problems, not failures. The site of a
 * version has a menu of versions, which loads `versions.js` from the folder above.
 */
export async function buildSite(root: string, version?: string): Promise<Site> {
  const docs = join(root, 'docs')
  const repository = (path: string): string => {
    if (path === '') return address
    const isFolder = existsSync(join(root, path)) && statSync(join(root, path)).isDirectory()
    return `${address}/${isFolder ? 'tree' : 'blob'}/main/${path.replace(/\/$/, '')}`
  }
  const pages = [
    ...readPages(docs).map((page) => withErrorMessages(page, root)),
    benchmarkPage(root),
    ...(generated ??= apiPages(root)),
  ]
  const hints = hintsOf(
    root,
    pages.filter(({ isGenerated }) => !isGenerated),
  )
  const rendered = new Map(
    pages.map((page) => [page.path, { page, rendered: renderPage(page, { docs, repository }, hints.get(page.path)) }]),
  )
  const problems = [
    ...checkLinks(docs, rendered),
    ...checkTranslations(pages),
    ...checkExcerpts(root, pages),
    ...checkDiagrams(docs),
    ...checkSchemaPage(root),
    ...checkErrorPage(root),
    ...checkCodes(pages),
    ...checkPictures(root),
  ]

  const titles = new Map(pages.map(({ path, title, fields }) => [path, fields['short'] ?? title]))
  const codes = Object.keys(languages) as Language[]
  const navigation = new Map(codes.map((code) => [code, readNavigation(docs, code, pages)]))
  const listed = new Set([...navigation.values()].flat().flatMap((section) => section.pages))
  for (const path of listed) if (!rendered.has(path)) problems.push(`docs/navigation.json: ${path} does not exist`)
  for (const { path } of pages) {
    if (!listed.has(path) && path !== 'index.md') problems.push(`docs/${path} is missing in navigation.json`)
  }

  const files = new Map<string, string | Buffer>()
  for (const { page, rendered: body } of rendered.values()) {
    const original = page.language === 'en' ? page.path : page.path.slice(page.language.length + 1)
    const translations = new Map<Language, string>()
    for (const code of codes) {
      const path = code === 'en' ? original : `${code}/${original}`
      if (rendered.has(path)) translations.set(code, path)
    }
    const sections = navigation.get(page.language)!
    files.set(addressOf(page.path), layOut(page, body, { sections, titles, translations, repository, version }))
  }
  files.set('icon.svg', readFileSync(join(docs, 'theme', 'icon.svg')))
  // Scripts and not JSON files, so that types and search work from a file system too.
  for (const [path, { texts }] of hints) {
    files.set(hintsAddressOf(path), `kubewrightHints(${JSON.stringify(texts.join(''))})`)
  }
  const theme = join(docs, 'theme')
  for (const { path, text } of await bundle(['site.js', 'site.css', 'search.js'].map((name) => join(theme, name)))) {
    files.set(basename(path), text)
  }
  const index = JSON.stringify(indexPages([...rendered.values()]))
  files.set('search.js', `${files.get('search.js')}kubewrightSearch.load(${index})`)
  for (const name of readdirSync(join(docs, 'pictures'), { recursive: true, encoding: 'utf8' })) {
    const file = join(docs, 'pictures', name)
    if (statSync(file).isFile()) files.set(`pictures/${name.replaceAll('\\', '/')}`, readFileSync(file))
  }
  const size = sizeOf(files)
  if (size > limit) problems.push(`the site has ${size} bytes, more than ${limit}`)
  return { files, problems }
}

/** The size of all files in bytes. */
export function sizeOf(files: ReadonlyMap<string, string | Buffer>): number {
  return [...files.values()].reduce((sum, content) => sum + Buffer.byteLength(content), 0)
}

async function bundle(entryPoints: string[]): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    entryPoints,
    outdir: '.',
    bundle: true,
    minify: true,
    format: 'iife',
    platform: 'browser',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  })
  return outputFiles
}
