import type { MediaType } from '../request/negotiate.ts'
import type { WriteOptions } from '../request/write-options.ts'
import type { MutableObject } from './object.ts'

/**
 * Turns request bodies into objects of one kind and gives objects their canonical forms.
 *
 * An object has two forms. In the **working form**, in which strategies and validation see it, unset lists, maps and times are absent.
 * In the **client form**, in which it is stored and served, those that the kind's JSON never leaves out are null. Kinds without Go
 * types have one form for both.
 */
export interface ObjectCodec {
  /** Decodes a request body: typed, defaulted, and pruned as the kind demands. Throws an ApiError when the body does not fit. */
  readonly decode: (body: Uint8Array, request: DecodeRequest) => MutableObject
  /**
   * Treats an object that did not come from a body, such as the result of a patch, as if it had been decoded: typed, defaulted and
   * pruned. The result shares nothing with the argument but the sets of fields of its managers. Throws an Error when the object does not
   * fit the kind.
   */
  readonly recheck: (object: MutableObject, options: RecheckOptions) => Rechecked
  /**
   * The working form: the argument itself if the kind has one form only, otherwise a new object that shares nothing with it. With
   * `mayShare`, the result may be the argument or share parts with it, which saves copying those that already have the form.
   */
  readonly toWorkingForm: (object: Readonly<MutableObject>, mayShare?: boolean) => MutableObject
  /** The client form, under the same guarantee as {@link ObjectCodec.toWorkingForm}. */
  readonly toClientForm: (object: MutableObject, mayShare?: boolean) => MutableObject
  /**
   * Whether the client form is exactly what a parse of its JSON returns, without undefined members. The server then keeps it for the next
   * write instead of parsing what it has stored. @default false
   */
  readonly isExact?: boolean | undefined
  /** The form in which managed fields are computed, where it differs from the working form: with nulls, which have owners. */
  readonly toOwnedForm?: ((object: MutableObject) => MutableObject) | undefined
  /** Whether the owned form of an object may differ from its working form. Cheaper than the conversion. */
  readonly needsOwnedForm?: ((object: MutableObject) => boolean) | undefined
  /** A new object with nothing set but kind, apiVersion and the fields that the kind's JSON never leaves out. Absent if there are none. */
  readonly empty?: (() => MutableObject) | undefined
}

/** How to decode a request body. */
export interface DecodeRequest {
  readonly mediaType: MediaType
  readonly fieldValidation: WriteOptions['fieldValidation']
  readonly warn: (text: string) => void
  /** Called with the parsed body, before it is typed. Throws an ApiError for a body beyond the limits. @default no check */
  readonly check?: ((value: unknown) => void) | undefined
}

/** How {@link ObjectCodec.recheck} treats an object. */
export interface RecheckOptions {
  /** Whether to report fields that the kind does not have. */
  readonly strict: boolean
  /** What the object was built from. Error texts differ between JSON text and a map of values, and so do the checks. */
  readonly source: 'json' | 'map'
}

/** The result of {@link ObjectCodec.recheck}: the object in its kind's form and the unknown fields that it had. */
export interface Rechecked {
  readonly object: MutableObject
  readonly strictErrors: readonly string[]
}
