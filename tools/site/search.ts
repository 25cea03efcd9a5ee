import type { SearchIndex } from './search-index.ts'
import { wordsOf } from './search-words.ts'

/** A passage that matches a query. */
export interface Found {
  readonly address: string
  readonly title: string
  readonly heading: string
  readonly excerpt: string
}

/** Finds the passages that contain all words of a query, also as beginnings of words, best first. */
export function search(index: SearchIndex, query: string, language: string, count = 12): Found[] {
  const known = Object.keys(index.words)
  let scores: Map<number, number> | undefined
  for (const word of new Set(wordsOf(query))) {
    const found = scoresOf(index, known, word)
    scores = scores === undefined ? found : intersect(scores, found)
  }
  return [...(scores ?? [])]
    .filter(([id]) => ['en', language].includes(index.passages[id]![3]))
    .map(([id, score]) => [id, score + (index.passages[id]![3] === language ? 1000 : 0)] as const)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, count)
    .map(([id]) => {
      const [address, title, heading, , excerpt] = index.passages[id]!
      return { address, title, heading, excerpt }
    })
}

function scoresOf(index: SearchIndex, known: readonly string[], word: string): Map<number, number> {
  const scores = new Map<number, number>()
  let similar = known.filter((one) => one.startsWith(word))
  if (similar.length === 0 && word.length > 3) similar = known.filter((one) => isSimilar(one, word))
  for (const one of similar) {
    const postings = index.words[one]!
    const rarity = Math.log(1 + index.passages.length / (postings.length / 2))
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
