import type { AnyKind, KubeObject } from '@kubewright/api'
import { deepEqual, KubewrightError } from '@kubewright/base'
import type { Client } from '@kubewright/client'

// A list, because JSON has no undefined: empty for a value that was absent.
type Stored = readonly [] | readonly [unknown]

/** The largest state in bytes. The API server limits all annotations of an object to 256 KiB. */
const maxState = 128 * 1024

/**
 * The values that handlers of a controller have handled last, in an annotation of the object. A handler is due while the
 * current value differs from the handled one, so a restart loses no change. A
 * crash before the value is recorded repeats the handler.
 */
export class HandledValues {
  readonly #annotation: string
  readonly #values: Record<string, Stored>

  constructor(object: KubeObject, annotation: string) {
    this.#annotation = annotation
    this.#values = parse(object.metadata.annotations?.[annotation])
  }

  /** Whether the handler has never run for the object, or ran for another value. */
  isDue(handler: string, value: unknown): boolean {
    const stored = this.#stored(handler)
    return stored === undefined || !deepEqual(stored[0], value)
  }

  /** The value that the handler has handled last; undefined before its first run. */
  old(handler: string): unknown {
    return this.#stored(handler)?.[0]
  }

  /** Records a handled value on the server. Rejects with a conflict if another object has the name now. */
  async save(client: Client, kind: AnyKind, object: KubeObject, handler: string, value: unknown): Promise<void> {
    this.#values[handler] = value === undefined ? [] : [value]
    const state = JSON.stringify(this.#values)
    if (Buffer.byteLength(state) > maxState) {
      throw new KubewrightError(
        'KW_HANDLED_TOO_LARGE',
        `Cannot record the values of ${kind.kind} ${object.metadata.name} that were handled: they exceed ${maxState} bytes. Use handlers of smaller fields`,
      )
    }
    const { name, namespace, uid } = object.metadata
    const patch = { metadata: { uid, annotations: { [this.#annotation]: state } } }
    await client.patch(kind, { name, ...(namespace === undefined ? {} : { namespace }) }, patch as never, {
      type: 'merge',
    })
  }

  #stored(handler: string): Stored | undefined {
    return Object.hasOwn(this.#values, handler) ? this.#values[handler] : undefined
  }
}

// A value that users have damaged counts as missing: the handlers run again.
function parse(text: string | undefined): Record<string, Stored> {
  if (text === undefined) return {}
  try {
    const values = JSON.parse(text) as unknown
    if (typeof values !== 'object' || values === null) return {}
    return Object.fromEntries(Object.entries(values).filter(([, value]) => Array.isArray(value)))
  } catch {
    return {}
  }
}
