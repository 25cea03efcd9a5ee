/** Lines of context around a change. */
const context = 3
/** Lists at least this long ignore lines that occur often. */
const popularFrom = 200

type Opcode = readonly [tag: 'equal' | 'replace' | 'delete' | 'insert', a0: number, a1: number, b0: number, b1: number]

/** The difference of two values as kube-apiserver shows it: a unified diff, without file names, of their indented JSON. */
export function jsonDiff(before: unknown, after: unknown): string {
  return unifiedDiff(linesOf(before), linesOf(after))
}

function linesOf(value: unknown): string[] {
  const escapes: Readonly<Record<string, string>> = {
    '<': '\\u003c',
    '>': '\\u003e',
    '&': '\\u0026',
    '\u2028': '\\u2028',
    '\u2029': '\\u2029',
  }
  const text = JSON.stringify(value, undefined, ' ').replace(/[<>&\u2028\u2029]/g, (char) => escapes[char]!)
  return text.split('\n').map((line) => `${line}\n`)
}

/** A unified diff of two lists of lines, by the algorithm of Python's difflib. */
export function unifiedDiff(a: readonly string[], b: readonly string[]): string {
  let text = ''
  for (const group of groupsOf(opcodesOf(a, b))) {
    const first = group[0]!
    const last = group.at(-1)!
    text += `@@ -${range(first[1], last[2])} +${range(first[3], last[4])} @@\n`
    for (const [tag, a0, a1, b0, b1] of group) {
      if (tag === 'equal') for (const line of a.slice(a0, a1)) text += ` ${line}`
      if (tag === 'replace' || tag === 'delete') for (const line of a.slice(a0, a1)) text += `-${line}`
      if (tag === 'replace' || tag === 'insert') for (const line of b.slice(b0, b1)) text += `+${line}`
    }
  }
  return text
}

function range(start: number, stop: number): string {
  const length = stop - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

/** Cuts long equal stretches, so that each group is a change with its context. */
function groupsOf(opcodes: readonly Opcode[]): Opcode[][] {
  const codes = [...opcodes]
  const first = codes[0]
  if (!first) return []
  if (first[0] === 'equal') {
    codes[0] = [
      'equal',
      Math.max(first[1], first[2] - context),
      first[2],
      Math.max(first[3], first[4] - context),
      first[4],
    ]
  }
  const last = codes.at(-1)!
  if (last[0] === 'equal') {
    const end: Opcode = [
      'equal',
      last[1],
      Math.min(last[2], last[1] + context),
      last[3],
      Math.min(last[4], last[3] + context),
    ]
    codes[codes.length - 1] = end
  }
  const groups: Opcode[][] = []
  let group: Opcode[] = []
  for (const [tag, a0, a1, b0, b1] of codes) {
    let [from, fromB] = [a0, b0]
    if (tag === 'equal' && a1 - a0 > 2 * context) {
      group.push([tag, a0, Math.min(a1, a0 + context), b0, Math.min(b1, b0 + context)])
      groups.push(group)
      group = []
      from = Math.max(a0, a1 - context)
      fromB = Math.max(b0, b1 - context)
    }
    group.push([tag, from, a1, fromB, b1])
  }
  if (group.length > 0 && !(group.length === 1 && group[0]![0] === 'equal')) groups.push(group)
  return groups
}

function opcodesOf(a: readonly string[], b: readonly string[]): Opcode[] {
  const codes: Opcode[] = []
  let [i, j] = [0, 0]
  for (const [ai, bj, size] of [...matchingBlocks(a, b), [a.length, b.length, 0] as const]) {
    const tag = i < ai ? (j < bj ? 'replace' : 'delete') : j < bj ? 'insert' : undefined
    if (tag) codes.push([tag, i, ai, j, bj])
    i = ai + size
    j = bj + size
    if (size > 0) codes.push(['equal', ai, i, bj, j])
  }
  return codes
}

type Block = readonly [a: number, b: number, size: number]

/** The stretches that both have, found by taking the longest first; neighbours are joined. */
function matchingBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const positions = new Map<string, number[]>()
  for (const [j, line] of b.entries()) {
    const list = positions.get(line)
    if (list) list.push(j)
    else positions.set(line, [j])
  }
  if (b.length >= popularFrom) {
    const limit = Math.floor(b.length / 100) + 1
    for (const [line, list] of positions) if (list.length > limit) positions.delete(line)
  }
  const found: Block[] = []
  const search = (alo: number, ahi: number, blo: number, bhi: number): void => {
    const [i, j, size] = longestMatch(a, b, positions, alo, ahi, blo, bhi)
    if (size === 0) return
    if (alo < i && blo < j) search(alo, i, blo, j)
    found.push([i, j, size])
    if (i + size < ahi && j + size < bhi) search(i + size, ahi, j + size, bhi)
  }
  search(0, a.length, 0, b.length)
  const joined: Block[] = []
  for (const [i, j, size] of found) {
    const last = joined.at(-1)
    if (last && last[0] + last[2] === i && last[1] + last[2] === j) {
      joined[joined.length - 1] = [last[0], last[1], last[2] + size]
    } else joined.push([i, j, size])
  }
  return joined
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
  positions: ReadonlyMap<string, readonly number[]>,
  alo: number,
  ahi: number,
  blo: number,
  bhi: number,
): Block {
  let [besti, bestj, size] = [alo, blo, 0]
  let lengths = new Map<number, number>()
  for (let i = alo; i < ahi; i++) {
    const next = new Map<number, number>()
    for (const j of positions.get(a[i]!) ?? []) {
      if (j < blo) continue
      if (j >= bhi) break
      const length = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, length)
      if (length > size) [besti, bestj, size] = [i - length + 1, j - length + 1, length]
    }
    lengths = next
  }
  // Lines that were left out as too common may still extend the match.
  while (besti > alo && bestj > blo && a[besti - 1] === b[bestj - 1]) {
    besti--
    bestj--
    size++
  }
  while (besti + size < ahi && bestj + size < bhi && a[besti + size] === b[bestj + size]) size++
  return [besti, bestj, size]
}
