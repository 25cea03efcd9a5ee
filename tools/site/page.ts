import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { plain } from './markdown.ts'

/** The languages of the site. English pages are at the top of `docs`, others in a folder with the code of the language. */
export const languages = { en: 'English', zh: '简体中文', ja: '日本語', ru: 'Русский' } as const
export type Language = keyof typeof languages

/** A section of the navigation, with the paths of its pages in order. */
export interface Section {
  readonly title: string
  readonly pages: readonly string[]
  /** A folder whose further pages follow in the order of their names. */
  readonly folder?: string
}

/** A Markdown page below `docs`. */
export interface Page {
  /** Path below `docs`, such as `guides/testing.md`. */
  readonly path: string
  readonly language: Language
  readonly title: string
  readonly description: string
  /** Text without the front matter. */
  readonly text: string
  /** Lines of the front matter, so that messages can name lines of the file. */
  readonly offset: number
  readonly fields: Readonly<Record<string, string>>
  /** Whether the page exists only in the site, without a file. */
  readonly isGenerated?: boolean
  /** Names that become links in code, with the pages and anchors of their sections. */
  readonly names?: ReadonlyMap<string, string>
}

const hidden = /^(theme|pictures|node_modules)\//

/** Reads all pages below a folder. */
export function readPages(docs: string): Page[] {
  const files = readdirSync(docs, { recursive: true, encoding: 'utf8' })
  return files
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md') && !hidden.test(file))
    .sort()
    .map((file) => readPage(docs, file))
}

function readPage(docs: string, path: string): Page {
  const source = readFileSync(join(docs, path), 'utf8')
  const front = /^---\n([\s\S]*?)\n---\n/.exec(source)
  const text = front ? source.slice(front[0].length) : source
  const fields = Object.fromEntries((front?.[1] ?? '').split('\n').flatMap((line) => fieldOf(line)))
  const first = path.split('/')[0]!
  return {
    path,
    language: first in languages && first !== 'en' ? (first as Language) : 'en',
    title: fields['title'] ?? plain(/^# (.+)$/m.exec(text)?.[1] ?? path),
    description: fields['description'] ?? plain(/^(?![#>|\-`<!\s])(.+(?:\n(?!\n).+)*)/m.exec(text)?.[1] ?? ''),
    text,
    offset: front ? front[0].split('\n').length - 1 : 0,
    fields,
  }
}

function fieldOf(line: string): [string, string][] {
  const match = /^([\w-]+): (.*)$/.exec(line)
  return match ? [[match[1]!, match[2]!]] : []
}

/** Reads the sections of the navigation from `navigation.json` in the folder of a language. */
export function readNavigation(docs: string, language: Language, pages: readonly Page[]): Section[] {
  const file = join(docs, language === 'en' ? '' : language, 'navigation.json')
  if (!existsSync(file)) return []
  const sections = JSON.parse(readFileSync(file, 'utf8')) as Section[]
  const listed = new Set(sections.flatMap((section) => section.pages))
  return sections.map((section) => {
    const { folder } = section
    if (folder === undefined) return section
    const others = pages.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`) && !listed.has(path))
    return { ...section, pages: [...section.pages, ...others] }
  })
}

/** The address of a page below the root of the site. */
export const addressOf = (path: string): string => path.replace(/\.md$/, '.html')

/** The address of the types of names in the code of a page. */
export const hintsAddressOf = (path: string): string => path.replace(/\.md$/, '.hints.js')

/** A relative link from one address to another. */
export function relativeTo(from: string, to: string): string {
  const depth = from.split('/').length - 1
  return '../'.repeat(depth) + to
}
