// The search of the site, in the browser and in tests.
import type MiniSearch from 'minisearch'
import type { Options, SearchOptions } from 'minisearch'

/** A part of a page below one heading. */
export interface Passage {
  readonly id: number
  readonly address: string
  /** The title of the page, in the field `page` for its first passage and in `title` for others. */
  readonly page: string
  readonly title: string
  readonly heading: string
  readonly text: string
  readonly language: string
  readonly excerpt: string
  /** How much the passage counts. */
  readonly weight: number
}

/** A passage that matches a query. */
export type Found = Pick<Passage, 'address' | 'page' | 'title' | 'heading' | 'excerpt'>

/**
 * The words of a text in lower case. A name such as `defineController` is also found by its parts. Chinese and Japanese
 * have no spaces, so their characters are taken in pairs.
 */
function tokenize(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    if (/[\u3040-\u30ff\u3400-\u9fff]/.test(word)) {
      const characters = [...word]
      return characters.length === 1
        ? characters
        : characters.slice(1).map((character, i) => characters[i]! + character)
    }
    const parts = word.split(/(?<=[a-z0-9])(?=[A-Z])/)
    return parts.length > 1 ? [word, ...parts] : word === '' ? [] : parts
  })
}

/** The stem of an English word, so that "simulate" finds "simulation" and "simulating". */
const stemOf = (word: string): string => word.toLowerCase().replace(/(?<=\w{3})(?:ing|ions?|ed|es|e|s)$/, '')

/** How passages are indexed: by words, which a reader may be typing, and by stems. */
export const indexOptions: Options<Passage> = {
  fields: ['page', 'title', 'heading', 'text'],
  storeFields: ['address', 'page', 'title', 'heading', 'language', 'excerpt', 'weight'],
  tokenize,
  processTerm: (word) => [...new Set([word.toLowerCase(), stemOf(word)])],
}

const searchOptions: SearchOptions = {
  processTerm: stemOf,
  boost: { page: 20, heading: 5, title: 2, text: 1 },
  prefix: (term) => term.length > 1,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  weights: { prefix: 0.4, fuzzy: 0.2 },
  combineWith: 'AND',
  boostDocument: (_id, _term, stored) => stored?.['weight'] as number,
}

/** A query with as many words is a sentence or a pasted message, of which a passage has some words only. */
const wordsOfMessage = 4

/**
 * Finds the passages in the language of the reader or in English that contain all words of a query, best first. If there
 * are none, or for a message, passages follow that contain some: names of the user's objects are in no passage.
 */
export function search(index: MiniSearch<Passage>, query: string, language: string, count = 12): Found[] {
  const options: SearchOptions = {
    ...searchOptions,
    filter: (result) => result['language'] === 'en' || result['language'] === language,
  }
  const all = index.search(query, options)
  const isMessage = tokenize(query).length >= wordsOfMessage
  const some =
    all.length > 0 && !isMessage
      ? []
      : index.search(query, { ...options, combineWith: 'OR', prefix: false, fuzzy: false })
  const results = [...new Map([...all, ...some].map((result) => [result.id as number, result])).values()]
  const own = results.filter((result) => result['language'] === language)
  const rest = results.filter((result) => result['language'] !== language)
  return [...own, ...rest].slice(0, count) as unknown as Found[]
}
