import type { Random } from '@kubewright/base'
import { chance, mutateBytes, mutateText, oddTexts } from '../mutate.ts'

/** An input of a decoder: text or bytes. Values are passed as JSON text. */
export type FuzzInput = string | Buffer

/** A decoder with its generator of inputs and its oracle. */
export interface DecoderTarget {
  readonly name: string
  /** Generates an input of at most about `maxSize` bytes. Draws from the stream only. */
  generate(random: Random, maxSize: number): FuzzInput
  /** Decodes the input. Throws when the decoder breaks its contract. */
  check(input: FuzzInput): void
}

/** A constructor of errors. */
type ErrorClass = abstract new (...args: never[]) => Error

/** The result, or undefined when the decoder refuses the input with a documented error. Other errors are thrown. */
export function decoded<T>(decode: () => T, ...documented: readonly ErrorClass[]): { readonly value: T } | undefined {
  try {
    return { value: decode() }
  } catch (error) {
    if (documented.some((type) => error instanceof type) && (error as Error).message !== '') return undefined
    throw error
  }
}

/** Throws when a property of a decoder does not hold. */
export function must(holds: boolean, property: string, detail?: unknown): void {
  if (!holds) throw new Error(`${property}${detail === undefined ? '' : `: ${JSON.stringify(detail)?.slice(0, 500)}`}`)
}

/** A generator of texts: valid ones, mutations of them, and sometimes one with a part that repeats up to the maximal size. */
export function textsFrom(
  samples: readonly string[],
  dictionary: readonly string[] = oddTexts,
): (random: Random, maxSize: number) => string {
  return (random, maxSize) => {
    let text = random.pick(samples)
    if (chance(random, 0.2)) text += random.pick(dictionary) + random.pick(samples)
    if (chance(random, 0.9)) text = mutateText(random, text, dictionary)
    return chance(random, 0.03) ? repeated(random, text, maxSize, dictionary) : text.slice(0, maxSize)
  }
}

/** A generator of bytes: valid ones, mutations of them, and sometimes one with a part that repeats up to the maximal size. */
export function bytesFrom(samples: readonly Uint8Array[]): (random: Random, maxSize: number) => Buffer {
  return (random, maxSize) => {
    const bytes = chance(random, 0.9) ? mutateBytes(random, random.pick(samples)) : Buffer.from(random.pick(samples))
    if (!chance(random, 0.03)) return bytes.subarray(0, maxSize)
    const at = random.int(bytes.length + 1)
    const part = bytes.subarray(at, at + 1 + random.int(16))
    const count = Math.max(1, Math.floor(maxSize / Math.max(1, part.length)))
    return Buffer.concat([bytes.subarray(0, at), ...Array.from({ length: count }, () => part), bytes.subarray(at)])
  }
}

/** The text with one of its parts, or a fragment of the dictionary, repeated. */
function repeated(random: Random, text: string, size: number, dictionary: readonly string[]): string {
  const at = random.int(text.length + 1)
  const own = text.slice(at, at + 1 + random.int(12))
  const part = chance(random, 0.6) && own !== '' ? own : random.pick(dictionary) || 'a'
  const isNumbered = chance(random, 0.3)
  const count = Math.max(1, Math.floor(size / (part.length + (isNumbered ? 5 : 0))))
  const middle = isNumbered ? Array.from({ length: count }, (_, i) => `${part}${i}`).join('') : part.repeat(count)
  return text.slice(0, at) + middle + text.slice(at)
}
