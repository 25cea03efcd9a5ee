/**
 * The words of a text in lower case, for the index and for queries. A name such as `defineController` is also found by
 * its parts. Chinese and Japanese have no spaces, so their characters are taken in pairs.
 */
export function wordsOf(text: string): string[] {
  return text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => {
    if (word === '') return []
    if (/[\u3040-\u30ff\u3400-\u9fff]/.test(word)) return pairsOf(word)
    const parts = word.split(/(?<=[a-z0-9])(?=[A-Z])/)
    const all = parts.length > 1 ? [word, ...parts] : parts
    return all.map((part) => part.toLowerCase())
  })
}

function pairsOf(word: string): string[] {
  const characters = [...word]
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, i) => characters[i]! + character)
}
