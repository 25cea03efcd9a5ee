/**
 * The known word closest to an unknown one, for a "did you mean" hint; undefined when none is close. Ignores case. The longer the
 * typed word, the more edits it may differ by: one up to 3 letters, two up to 7, three beyond.
 */
export function closestWord(typed: string, words: Iterable<string>): string | undefined {
  const most = typed.length <= 3 ? 1 : typed.length <= 7 ? 2 : 3
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const word of words) {
    const distance = distanceBetween(typed.toLowerCase(), word.toLowerCase())
    if (distance <= most && distance < word.length && distance < (best?.distance ?? Infinity)) best = { word, distance }
  }
  return best?.word
}

/** The edit distance: how many letters must be added, dropped, replaced or swapped with their neighbour to turn one word into the other. */
function distanceBetween(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1)
      row.push(least)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
