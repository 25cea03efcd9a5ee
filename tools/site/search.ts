import type { SearchIndex } from './search-index.ts'
import { wordsOf } from './search-words.ts'

/** A passage that matches a query. */
export interface Found {
  readonly address: string
  readonly title: string
  readonly heading: string
  readonly excerpt: string
}

/** A query with as many words is a sentence or a pasted message, of which a passage has some words only. */
const wordsOfMessage = 4

/** The share of a message that a passage must contain; rare words count more. */
const leastShare = 0.2

/**
 * Finds the passages that contain all words of a query, also as beginnings of words, best first. For a pasted message,
 * passages follow that contain a large part of it: names of the user's objects are in no passage.
 */
export function search(index: SearchIndex, query: string, language: string, count = 12): Found[] {
  const known = Object.keys(index.words)
  const words = [...new Set(wordsOf(query))]
  let scores: Map<number, number> | undefined
  for (const word of words) {
    const found = scoresOf(index, known, word)
    scores = scores === undefined ? found : intersect(scores, found)
  }
  const exact = ranked(index, scores ?? new Map(), language)
  const similar = words.length < wordsOfMessage ? [] : ranked(index, scoresOfMessage(index, words), language)
  return [...new Set([...exact, ...similar])].slice(0, count).map((id) => {
    const [address, title, heading, , excerpt] = index.passages[id]!
    return { address, title, heading, excerpt }
  })
}

/** The passages in the language of the reader or in English, best first. */
function ranked(index: SearchIndex, scores: ReadonlyMap<number, number>, language: string): number[] {
  return [...scores]
    .filter(([id]) => ['en', language].includes(index.passages[id]![3]))
    .map(([id, score]) => [id, score + (index.passages[id]![3] === language ? 1000 : 0)] as const)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .map(([id]) => id)
}

/** The passages that contain a large part of a message, with that part. Long passages contain many words by chance. */
function scoresOfMessage(index: SearchIndex, words: readonly string[]): Map<number, number> {
  const shares = new Map<number, number>()
  let total = 0
  for (const word of words) {
    const postings = index.words[word]
    if (postings === undefined) continue
    const rarity = rarityOf(index, postings)
    total += rarity
    for (let i = 0; i < postings.length; i += 2) {
      // A word of a heading counts a little more than one of the text.
      const share = rarity * (1 + postings[i + 1]! / 100)
      shares.set(postings[i]!, (shares.get(postings[i]!) ?? 0) + share)
    }
  }
  const lengths = lengthsOf(index)
  const likely = [...shares].filter(([, share]) => share >= total * leastShare)
  return new Map(likely.map(([id, share]) => [id, share / Math.log(20 + lengths[id]!)]))
}

/** The number of different words of each passage. */
function lengthsOf(index: SearchIndex): number[] {
  const lengths = index.passages.map(() => 0)
  for (const postings of Object.values(index.words)) {
    for (let i = 0; i < postings.length; i += 2) lengths[postings[i]!]!++
  }
  return lengths
}

const rarityOf = (index: SearchIndex, postings: readonly number[]): number =>
  Math.log(1 + index.passages.length / (postings.length / 2))

function scoresOf(index: SearchIndex, known: readonly string[], word: string): Map<number, number> {
  const scores = new Map<number, number>()
  let similar = known.filter((one) => one.startsWith(word))
  if (similar.length === 0 && word.length > 3) similar = known.filter((one) => isSimilar(one, word))
  for (const one of similar) {
    const postings = index.words[one]!
    const rarity = rarityOf(index, postings)
    const closeness = one === word ? 1 : 0.4
    for (let i = 0; i < postings.length; i += 2) {
      const score = postings[i + 1]! * rarity * closeness
      scores.set(postings[i]!, Math.max(scores.get(postings[i]!) ?? 0, score))
    }
  }
  return scores
}

function intersect(a: Map<number, number>, b: Map<number, number>): Map<number, number> {
  return new Map([...a].flatMap(([id, score]) => (b.has(id) ? [[id, score + b.get(id)!] as const] : [])))
}

/** Whether one insertion, deletion, replacement or exchange of neighbours turns one word into the other. */
function isSimilar(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  return x.length <= 1 && y.length <= 1 ? true : x.length === 2 && y.length === 2 && x[0] === y[1] && x[1] === y[0]
}
