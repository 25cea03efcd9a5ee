import MiniSearch from 'minisearch'
import { addressOf, type Page } from './page.ts'
import type { Rendered } from './render-page.ts'
import { indexOptions, type Passage } from './search.ts'

/** Indexes all passages of the pages. */
export function indexPages(pages: readonly { page: Page; rendered: Rendered }[]): MiniSearch<Passage> {
  const index = new MiniSearch(indexOptions)
  for (const { page, rendered } of pages) {
    const isApi = page.path.startsWith('reference/api/')
    // Pages that answer a question come before lists of names and reasons of decisions.
    const weight = isApi || page.path.startsWith('adr/') ? 0.4 : page.path.startsWith('reference/') ? 0.8 : 1
    for (const { heading, text } of rendered.passages) {
      const address = addressOf(page.path) + (heading ? `#${heading.id}` : '')
      index.add({
        id: index.documentCount,
        address,
        page: heading ? '' : page.title,
        title: heading ? page.title : '',
        heading: heading?.text ?? '',
        // A name of the API is in its heading; more text of generated pages would only enlarge the index.
        text: isApi ? text.slice(0, 200) : text,
        language: page.language,
        excerpt: text.trim().slice(0, 110),
        weight,
      })
    }
  }
  return index
}
