// The types and doc comments of the names in code blocks, as an editor shows them. TypeScript takes seconds for all
// pages, so the hints of a page are kept until its code or the declarations of a package change.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { codeModulesOf } from '../code-modules.ts'
import { excerptsOf } from './check-excerpts.ts'
import { highlight } from './code.ts'
import { markdown } from './markdown.ts'
import type { Page } from './page.ts'

/** The hints of a page. */
export interface PageHints {
  /** For each block, by the number of lines before it: start and end of names, and the number of the text. */
  readonly blocks: Readonly<Record<number, readonly (readonly [start: number, end: number, text: number])[]>>
  /** HTML elements, which the script of the page loads and shows. */
  readonly texts: readonly string[]
}

/** A file for the compiler, and the blocks of the page that show parts of it. */
interface Shown {
  readonly file: string
  readonly code: string
  readonly parts: readonly {
    readonly line: number
    /** Where the part starts in its block and in the file. */
    readonly start: number
    readonly at: number
    readonly length: number
  }[]
}

/** TypeScript abbreviates longer types. */
const longestType = 400

/** Returns the hints of the pages that have code, by path. */
export function hintsOf(root: string, pages: readonly Page[]): ReadonlyMap<string, PageHints> {
  const cacheFile = join(root, 'node_modules', '.cache', 'kubewright-site', 'hints.json')
  const cache = existsSync(cacheFile) ? (JSON.parse(readFileSync(cacheFile, 'utf8')) as Record<string, PageHints>) : {}
  const types = digestOfTypes(root)
  const shown = new Map(pages.map(({ path, text }) => [path, shownFiles(root, path, text)]))
  const keys = new Map<string, string>()
  for (const [path, files] of shown) {
    if (files.length > 0) keys.set(path, digest(`${types} ${JSON.stringify(files)}`))
  }
  const stale = [...keys].filter(([, key]) => cache[key] === undefined)
  if (stale.length > 0) {
    const service = serviceOf(
      root,
      new Map(stale.flatMap(([path]) => shown.get(path)!.map((one) => [one.file, one.code]))),
    )
    for (const [path, key] of stale) cache[key] = readHints(service, shown.get(path)!)
    mkdirSync(dirname(cacheFile), { recursive: true })
    writeFileSync(cacheFile, JSON.stringify(Object.fromEntries([...keys.values()].map((key) => [key, cache[key]]))))
  }
  return new Map([...keys].map(([path, key]) => [path, cache[key]!]))
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What determines the hints beside the code of a page: the declarations of all packages, and this program. */
function digestOfTypes(root: string): string {
  const packages = join(root, 'packages')
  const hash = createHash('sha256').update(ts.version)
  for (const file of ['hints.ts', 'code.ts']) hash.update(readFileSync(join(import.meta.dirname, file)))
  for (const name of readdirSync(packages).sort()) {
    const dist = join(packages, name, 'dist')
    if (!existsSync(dist)) continue
    for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }).sort()) {
      if (file.endsWith('.d.ts')) hash.update(readFileSync(join(dist, file)))
    }
  }
  return hash.digest('hex')
}

function shownFiles(root: string, path: string, text: string): Shown[] {
  const folder = join(root, 'node_modules', '.cache', 'kubewright-site', path.replaceAll(/\W/g, '-'))
  const modules = codeModulesOf(text).map(({ name, code, parts }) => ({
    file: join(folder, name),
    code: `${code}\nexport {}\n`,
    parts: parts.map(({ line, start }, i) => {
      const end = parts[i + 1]?.start ?? code.length
      return { line, start: 0, at: start, length: end - start }
    }),
  }))
  const excerpts = excerptsOf(root, text)
    .filter(({ file }) => file.endsWith('.ts'))
    .map(({ line, file, source, parts }) => ({
      file: join(root, file),
      code: source,
      parts: parts.map((part) => ({ line, ...part })),
    }))
  return [...modules, ...excerpts]
}

function serviceOf(root: string, files: ReadonlyMap<string, string>): ts.LanguageService {
  const read = (file: string): string | undefined => files.get(file) ?? ts.sys.readFile(file)
  const folders = new Set([...files.keys()].map((file) => dirname(file)))
  return ts.createLanguageService({
    getCompilationSettings: () => ({
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
      lib: ['lib.esnext.d.ts', 'lib.dom.d.ts'],
      types: ['node'],
      strict: true,
      allowImportingTsExtensions: true,
      noEmit: true,
    }),
    getScriptFileNames: () => [...files.keys()],
    getScriptVersion: () => '1',
    getScriptSnapshot: (file) => {
      const text = read(file)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    fileExists: (file) => files.has(file) || ts.sys.fileExists(file),
    readFile: read,
    directoryExists: (folder) => folders.has(folder) || ts.sys.directoryExists(folder),
    realpath: (file) => (files.has(file) ? file : ts.sys.realpath!(file)),
  })
}

function readHints(service: ts.LanguageService, shown: readonly Shown[]): PageHints {
  const blocks: Record<number, [number, number, number][]> = {}
  const texts = new Map<string, number>()
  for (const { file, parts } of shown) {
    const source = service.getProgram()!.getSourceFile(file)!
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit)
      if (!ts.isIdentifier(node)) return
      const at = node.getStart(source)
      const part = parts.find((one) => at >= one.at && node.end <= one.at + one.length)
      const text = part && textOf(service, file, at)
      if (part === undefined || text === undefined) return
      if (!texts.has(text)) texts.set(text, texts.size)
      const start = at - part.at + part.start
      ;(blocks[part.line - 1] ??= []).push([start, start + node.end - at, texts.get(text)!])
    }
    visit(source)
  }
  return { blocks, texts: [...texts.keys()].map(elementOf) }
}

/** The type of a name and the first paragraph of its comment in two parts, or undefined if there is nothing to say. */
function textOf(service: ts.LanguageService, file: string, at: number): string | undefined {
  const info = service.getQuickInfoAtPosition(file, at, longestType)
  // A declaration with many type parameters has a readable form in its doc comment.
  const signature = info?.tags?.find(({ name }) => name === 'signature')?.text
  const full = ts
    .displayPartsToString(signature ?? info?.displayParts)
    .replace(/^\(alias\) |\nimport .*$|;(?=\n)/g, '')
    .replaceAll('    ', '  ')
  const type = full.length > 2 * longestType ? `${full.slice(0, 2 * longestType)}…` : full
  if (type === '' || /: any$/.test(type)) return undefined
  const [comment = ''] = ts.displayPartsToString(info?.documentation).split('\n\n')
  return `${type}\0${comment.replace(/\s+/g, ' ')}`
}

const elements = new Map<string, string>()

function elementOf(text: string): string {
  let element = elements.get(text)
  if (element === undefined) {
    const [type = '', comment = ''] = text.split('\0')
    const paragraph = comment === '' ? '' : `<p>${markdown.renderInline(comment)}</p>`
    element = `<div>${highlight(type, 'ts').replace(' tabindex="0"', '')}${paragraph}</div>`
    elements.set(text, element)
  }
  return element
}
