/**
 * The code lengths of the 256 byte values and of EOS in the Huffman code of HPACK (RFC 7541, appendix B), as letters: `a` is 5 bits, `z` is
 * 30. The code is canonical, so the lengths determine it.
 */
const codeLengths =
  'isxxxxxxxtzxxzxxxxxxxxzxxxxxxxxxbffhibdgffdgdbbbaaabbbbbbbcdkbhfibccccccccccccccccccccccdcdioijb' +
  'kabababbbaccbbbabcbaabccccckgjixprpprrrsrssssststtrstssssqrsrsstrqprrssqsrrtqrssqqrqsrssprrrsrrs' +
  'vvporsruvvvwwvtuoqvwwvwtqqvvxwwwptpqrqqsrruuttvsvwvvwwwwwxwwwwwvz'
const eos = 256
const failure = -1

/**
 * The decoder as a state machine that reads four bits at a time. A state is an inner node of the code tree. An entry has the next state in
 * its low byte and, above it, the decoded byte plus one, or zero. Codes have at least five bits, so a step decodes at most one byte.
 */
interface StateMachine {
  readonly steps: Int32Array
  /** The states in which an encoded string may end: its padding is fewer than eight bits, all of them ones. */
  readonly accepts: Uint8Array
}

let machine: StateMachine | undefined

/** Decodes a Huffman-encoded string to latin1. Returns undefined if the code is invalid. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string | undefined {
  const { steps, accepts } = (machine ??= build())
  // A byte is at least five bits long.
  const decoded = Buffer.allocUnsafe(Math.ceil(((end - start) * 8) / 5))
  let length = 0
  let state = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    let step = steps[(state << 4) | (byte >> 4)]!
    if (step === failure) return undefined
    if (step > 255) decoded[length++] = (step >> 8) - 1
    step = steps[((step & 255) << 4) | (byte & 15)]!
    if (step === failure) return undefined
    if (step > 255) decoded[length++] = (step >> 8) - 1
    state = step & 255
  }
  return accepts[state] ? decoded.toString('latin1', 0, length) : undefined
}

function build(): StateMachine {
  // Children of inner nodes: an inner node as its number, a symbol as its complement.
  const children: [number, number][] = [[0, 0]]
  const lengths = [...codeLengths].map((letter) => letter.charCodeAt(0) - 97 + 5)
  const symbols = lengths.map((_, symbol) => symbol).sort((a, b) => lengths[a]! - lengths[b]! || a - b)
  let code = 0
  let previous = lengths[symbols[0]!]!
  for (const symbol of symbols) {
    code *= 2 ** (lengths[symbol]! - previous)
    previous = lengths[symbol]!
    insert(children, code++, previous, symbol)
  }
  const steps = new Int32Array(children.length * 16)
  for (let state = 0; state < children.length; state++) {
    for (let nibble = 0; nibble < 16; nibble++) steps[(state << 4) | nibble] = stepOf(children, state, nibble)
  }
  const accepts = new Uint8Array(children.length)
  for (let state = 0, ones = 0; ones < 8; ones++) {
    accepts[state] = 1
    state = children[state]![1]
  }
  return { steps, accepts }
}

function insert(children: [number, number][], code: number, length: number, symbol: number): void {
  let node = 0
  for (let bit = length - 1; bit > 0; bit--) {
    const side = Math.floor(code / 2 ** bit) & 1 ? 1 : 0
    if (children[node]![side] === 0) children[node]![side] = children.push([0, 0]) - 1
    node = children[node]![side]
  }
  children[node]![code & 1 ? 1 : 0] = ~symbol
}

function stepOf(children: readonly [number, number][], state: number, nibble: number): number {
  let node = state
  let decoded = 0
  for (let bit = 3; bit >= 0; bit--) {
    const next = children[node]![(nibble >> bit) & 1 ? 1 : 0]
    if (next >= 0) {
      node = next
      continue
    }
    if (~next === eos) return failure
    decoded = ~next + 1
    node = 0
  }
  return (decoded << 8) | node
}
