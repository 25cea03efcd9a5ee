import { CaughtError } from '@kubewright/base'
import {
  CelBytes,
  CelDouble,
  CelUint,
  type CelValue,
  INT64_MAX,
  INT64_MIN,
  intOf,
  UINT64_MAX,
} from '../values/values.ts'
import type { Token, TokenKind } from './lexer.ts'
import { unescapeBytes, unescapeString } from './unescape.ts'

const LITERALS: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'NUM_INT',
  'NUM_FLOAT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'true',
  'false',
  'null',
])

/** Reports whether the token is a constant. */
export function isLiteral(token: Token): boolean {
  return LITERALS.has(token.kind)
}

/**
 * Returns the value of a constant. `isNegative` applies to ints and doubles: their sign is a token of its own. Throws an
 * Error with cel-go's message for a number that is out of range or an invalid escape.
 */
export function literalValue(token: Token, isNegative: boolean): CelValue {
  switch (token.kind) {
    case 'NUM_INT': {
      const value = isNegative ? -BigInt(token.text) : BigInt(token.text)
      if (value < INT64_MIN || value > INT64_MAX) throw new CaughtError('invalid int literal')
      return intOf(value)
    }
    case 'NUM_FLOAT': {
      const value = isNegative ? -Number(token.text) : Number(token.text)
      if (!Number.isFinite(value)) throw new CaughtError('invalid double literal')
      return new CelDouble(value)
    }
    case 'NUM_UINT': {
      const value = BigInt(token.text.slice(0, -1))
      if (value > UINT64_MAX) throw new CaughtError('invalid uint literal')
      return new CelUint(value)
    }
    case 'STRING':
      return unescapeString(token.text)
    case 'BYTES':
      return new CelBytes(unescapeBytes(token.text.slice(1)))
    case 'true':
      return true
    case 'false':
      return false
    default:
      return null
  }
}
