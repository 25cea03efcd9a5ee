import type { MediaType } from '../request/negotiate.ts'
import type { WriteOptions } from '../request/write-options.ts'
import type { MutableObject } from './object.ts'

/** How a body is to be decoded. */
export interface DecodeRequest {
  readonly mediaType: MediaType
  readonly fieldValidation: WriteOptions['fieldValidation']
  readonly warn: (text: string) => void
}

/** How {@link Resource.recheck} looks at an object. */
export interface RecheckOptions {
  /** Report fields that the kind does not have. */
  readonly strict: boolean
  /** What the object was made of, which error texts depend on: JSON text, or a map of values. */
  readonly source: 'json' | 'map'
}

/** An object in its kind's form, and the unknown fields that it had. */
export interface Rechecked {
  readonly object: MutableObject
  readonly strictErrors: readonly string[]
}
