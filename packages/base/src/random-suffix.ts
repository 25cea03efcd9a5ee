import type { Random } from './random.ts'

// Without vowels and similar-looking characters, so that no words appear; as in apimachinery/pkg/util/rand/rand.go.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'

/** Returns random characters from the alphabet that Kubernetes uses for `generateName`, which appends five. */
export function randomSuffix(random: Random, length: number = 5): string {
  let suffix = ''
  for (let i = 0; i < length; i++) suffix += ALPHABET[random.int(ALPHABET.length)]
  return suffix
}

/**
 * Maps any text, such as a hash, to the same alphabet, character by character: `SafeEncodeString` in Kubernetes, used
 * for pod template hashes.
 */
export function safeEncode(text: string): string {
  let encoded = ''
  for (const character of text) encoded += ALPHABET[(character.codePointAt(0) ?? 0) % ALPHABET.length]
  return encoded
}
