import { type KubeObject, keyOf } from '@kubewright/api'
import { isKubewrightError } from '@kubewright/base'
import type { KeyContext } from '../controller/key-controller.ts'
import type { Outcome } from '../define/context.ts'
import type { OwnVersions } from './own-versions.ts'
import type { StatusChange, StatusWrite, StatusWriter } from './status-writer.ts'

/** The parts of {@link StatusSession}. */
export interface StatusSessionParts {
  readonly writer: StatusWriter
  readonly own: OwnVersions | undefined
  readonly context: KeyContext
  /** Called with the result of each write. */
  readonly count: (result: 'written' | 'unchanged') => void
}

/** The status writes of one reconcile, which are sent one after the other in the order of the calls. */
export class StatusSession {
  readonly #parts: StatusSessionParts
  // The newest version of the object whose contents the reconcile knows.
  #object: KubeObject
  #last: Promise<unknown> = Promise.resolve()

  constructor(object: KubeObject, parts: StatusSessionParts) {
    this.#object = object
    this.#parts = parts
  }

  /** The object as the reconcile knows it, with its own status writes. */
  get object(): KubeObject {
    return this.#object
  }

  write(change: StatusChange): Promise<void> {
    const written = this.#last.then(() => this.#write(change))
    // The caller handles the error. A write that the caller does not await must not end the process.
    this.#last = written.catch(() => undefined)
    return written
  }

  async #write(change: StatusChange): Promise<void> {
    const { writer, own, context, count } = this.#parts
    const send = (): Promise<StatusWrite> =>
      writer.write(context.client, this.#object, change, () => writeSignal(context))
    const { sent, known, answer } = own === undefined ? await send() : await own.during(keyOf(this.#object), send)
    if (known !== undefined && answer !== undefined) this.#object = answer
    count(sent ? 'written' : 'unchanged')
  }

  /** Resolves when all writes so far have ended. */
  async settled(): Promise<void> {
    await this.#last
  }
}

// A reconcile that timed out still reports its failure. Requests have a timeout of their own.
function writeSignal({ signal }: KeyContext): AbortSignal | undefined {
  return signal.aborted && isKubewrightError(signal.reason, 'KW_DEADLINE_EXCEEDED') ? undefined : signal
}

/** The change of the status that an outcome requests; undefined for none. */
export function statusChangeOf(outcome: Outcome<unknown>, isFinal = false): StatusChange | undefined {
  const { status = null, mergeStatus = null } = outcome
  if (status !== null && mergeStatus !== null) {
    throw new TypeError("An outcome must have either 'status' or 'mergeStatus', not both")
  }
  if (status !== null) return { status: status as object }
  return mergeStatus === null ? undefined : { mergeStatus: mergeStatus as object, isFinal }
}
