import { addressOf, type Page } from './page.ts'
import type { Rendered } from './render-page.ts'
import { wordsOf } from './search-words.ts'

/** The index that the page of the site loads: passages, and the passages of each word with weights. */
export interface SearchIndex {
  /** Address, title of the page, heading, language and start of the text. */
  readonly passages: readonly (readonly [string, string, string, string, string])[]
  /** For each word the numbers and weights of its passages, alternately. */
  readonly words: Readonly<Record<string, readonly number[]>>
}

/** Indexes all passages of the pages. */
export function indexPages(pages: readonly { page: Page; rendered: Rendered }[]): SearchIndex {
  const passages: [string, string, string, string, string][] = []
  const words = new Map<string, Map<number, number>>()
  for (const { page, rendered } of pages) {
    // Pages that answer a question come before lists of names and reasons of decisions.
    const isApi = page.path.startsWith('reference/api/')
    const isBackground = isApi || page.path.startsWith('adr/')
    for (const { heading, text } of rendered.passages) {
      const id = passages.length
      const address = addressOf(page.path) + (heading ? `#${heading.id}` : '')
      passages.push([address, page.title, heading?.text ?? '', page.language, text.trim().slice(0, 110)])
      const add = (part: string, weight: number): void => {
        for (const word of wordsOf(part)) {
          let found = words.get(word)
          if (found === undefined) words.set(word, (found = new Map()))
          found.set(id, Math.min(99, (found.get(id) ?? 0) + weight))
        }
      }
      add(heading?.text ?? '', isBackground ? 6 : 12)
      add(page.title, heading === undefined ? (isBackground ? 7 : 14) : isBackground ? 1 : 3)
      // A name of the API is in its heading; more text of generated pages would only enlarge the index.
      add(isApi ? text.slice(0, 200) : text, 1)
    }
  }
  const sorted = [...words].sort(([a], [b]) => (a < b ? -1 : 1))
  return { passages, words: Object.fromEntries(sorted.map(([word, found]) => [word, [...found].flat()])) }
}
