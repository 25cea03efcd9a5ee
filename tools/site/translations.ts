import { createHash } from 'node:crypto'
import type { Page } from './page.ts'

/** Sections of a page: the text before the first `##` heading, then one per such heading. */
function sectionsOf(text: string): string[] {
  return text.split(/^(?=## )/m)
}

const digest = (text: string): string => createHash('sha256').update(text.trim()).digest('hex').slice(0, 8)

/** The digests of the sections of an English page, as `source:` in the front matter of its translations. */
export function sourceDigests(english: Page): string {
  return sectionsOf(english.text).map(digest).join(' ')
}

/**
 * Checks that translations follow their English page: each lists the digests of the English sections from which it was
 * translated, has as many sections, and contains the same code blocks.
 */
export function checkTranslations(pages: readonly Page[]): string[] {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  return pages
    .filter(({ language }) => language !== 'en')
    .flatMap((page) => {
      const original = byPath.get(page.path.slice(page.language.length + 1))
      if (original === undefined) return [`docs/${page.path} translates no page`]
      const [now, then] = [sourceDigests(original).split(' '), (page.fields['source'] ?? '').split(' ')]
      const titles = sectionsOf(original.text).map((section) => /^#+ (.+)/.exec(section)?.[1] ?? '(start)')
      const stale = titles.filter((_, i) => now[i] !== then[i])
      if (stale.length > 0 || now.length !== then.length) {
        const where = stale.map((title) => `"${title}"`).join(', ')
        return [
          `docs/${page.path}: the English text of ${where || 'removed sections'} has changed. Translate it, then set "source: ${now.join(' ')}"`,
        ]
      }
      if (sectionsOf(page.text).length !== now.length) return [`docs/${page.path} has another number of sections`]
      return codeOf(page.text) === codeOf(original.text)
        ? []
        : [`docs/${page.path} has other code blocks than the English page`]
    })
}

/** The code blocks of a page, without comments, which may be translated. */
function codeOf(text: string): string {
  const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info, code]) => `${info}\n${code}`)
  return blocks
    .join('\n')
    .replace(/^\s*(?:\/\/|#) .*$/gm, '')
    .replace(/\s+# .*$/gm, '')
}
