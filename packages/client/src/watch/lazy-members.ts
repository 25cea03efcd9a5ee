import { deepFreeze } from '@kubewright/base'
import { Existing } from './existing.ts'
import { addManagedFields } from './lazy-managed-fields.ts'

const metadataKey = '"metadata":'
// The text before the values of spec and status.
const specPrefix = ',"spec":'
const statusPrefix = ',"status":'

/** Positions of parts of an encoded object. */
export interface EncodedParts {
  /** The end of the metadata of an object of the usual layout, see {@link Members}; 0 for any other layout. */
  readonly metadataEnd: number
  /** Equal to `metadataEnd` without a spec. */
  readonly specEnd: number
  /** The comma before the managed fields; 0 without managed fields. */
  readonly fieldsStart: number
  readonly fieldsEnd: number
}

/**
 * The members of an encoded object of the usual layout: apiVersion and kind or neither, `"metadata":{}`, then optionally
 * `,"spec":` and `,"status":` with their values, without white space between them, and the end. Each member is parsed
 * and deeply frozen on first access.
 */
export class Members {
  readonly #text: string
  readonly #metadataEnd: number
  readonly #specEnd: number
  readonly #fieldsStart: number
  readonly #fieldsEnd: number
  #metadata: unknown
  #spec: unknown
  #status: unknown

  constructor(text: string, positions: EncodedParts) {
    this.#text = text
    this.#metadataEnd = positions.metadataEnd
    this.#specEnd = positions.specEnd
    this.#fieldsStart = positions.fieldsStart
    this.#fieldsEnd = positions.fieldsEnd
  }

  get hasSpec(): boolean {
    return this.#specEnd > this.#metadataEnd
  }

  get hasStatus(): boolean {
    return this.#specEnd < this.#text.length - 1
  }

  get metadata(): unknown {
    return (this.#metadata ??= this.#parsedMetadata())
  }

  get spec(): unknown {
    return (this.#spec ??= this.#parsed(this.#metadataEnd + specPrefix.length, this.#specEnd))
  }

  get status(): unknown {
    return (this.#status ??= this.#parsed(this.#specEnd + statusPrefix.length, this.#text.length - 1))
  }

  #parsed(start: number, end: number): unknown {
    return deepFreeze(JSON.parse(this.#text.slice(start, end)))
  }

  /** The metadata. The managed fields, often half of the bytes of an object, are parsed on first access. */
  #parsedMetadata(): unknown {
    const text = this.#text
    const fieldsStart = this.#fieldsStart
    // Only apiVersion and kind precede it, and quotes in their values are escaped.
    const start = text.indexOf(metadataKey) + metadataKey.length
    if (fieldsStart === 0) return this.#parsed(start, this.#metadataEnd)
    const json = text.slice(start, fieldsStart) + text.slice(this.#fieldsEnd, this.#metadataEnd)
    const metadata = JSON.parse(json) as Readonly<Record<string, unknown>>
    // Children first: freezing an object reads all its properties, which would parse the managed fields.
    for (const name in metadata) deepFreeze(metadata[name])
    // After the comma: the key, a colon and the list.
    addManagedFields(metadata, text.slice(fieldsStart + 1, this.#fieldsEnd))
    return metadata
  }
}

/** Private state of an object. Unlike closures, it lets all objects share their getters and one hidden class. */
class LazyMembers extends Existing {
  readonly #members: Members

  constructor(object: object, members: Members) {
    super(object)
    this.#members = members
  }

  /** The members of an object that was given some; undefined for any other, such as a proxy. */
  static of(object: object): Members | undefined {
    return #members in object ? object.#members : undefined
  }
}

const descriptorOf = (name: 'metadata' | 'spec' | 'status'): PropertyDescriptor => ({
  get(this: object): unknown {
    return LazyMembers.of(this)?.[name]
  },
  enumerable: true,
})
const metadataDescriptor = descriptorOf('metadata')
const specDescriptor = descriptorOf('spec')
const statusDescriptor = descriptorOf('status')

// Without it, util.inspect and console.log would show accessors instead of values.
const inspection = Symbol.for('nodejs.util.inspect.custom')
const inspectionDescriptor: PropertyDescriptor = {
  value(this: object): object {
    return { ...this }
  },
}

/**
 * An object without a class of its own. The constructor replaces an object literal: V8 would allocate literals in the
 * old generation once many were cached, and would then promote what they refer to.
 */
const PlainObject = function (this: Record<string, unknown>, apiVersion: string, kind: string): void {
  this.apiVersion = apiVersion
  this.kind = kind
} as unknown as new (
  apiVersion: string,
  kind: string,
) => object
PlainObject.prototype = Object.prototype

/** An object with accessors for its members. The caller freezes it. */
export function lazyObject(apiVersion: string, kind: string, members: Members): object {
  const object = new PlainObject(apiVersion, kind)
  new LazyMembers(object, members)
  Object.defineProperty(object, 'metadata', metadataDescriptor)
  if (members.hasSpec) Object.defineProperty(object, 'spec', specDescriptor)
  if (members.hasStatus) Object.defineProperty(object, 'status', statusDescriptor)
  return Object.defineProperty(object, inspection, inspectionDescriptor)
}
