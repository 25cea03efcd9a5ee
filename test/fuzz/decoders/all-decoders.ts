import { binaryDecoders } from './binary-decoders.ts'
import type { DecoderTarget } from './decoder-target.ts'
import { documentDecoders } from './document-decoders.ts'
import { objectDecoders } from './object-decoders.ts'
import { textDecoders } from './text-decoders.ts'

/** All fuzzed decoders. */
export const allDecoders: readonly DecoderTarget[] = [
  ...documentDecoders,
  ...textDecoders,
  ...objectDecoders,
  ...binaryDecoders,
]
