import type { MutationRound } from '../admission/admission.ts'
import type { MutableObject } from '../resource/object.ts'

/** State of the first round for the second: the webhooks or policies to call again, by id. */
export class Reinvocation {
  /** The object after the last call of the round. */
  output: MutableObject | undefined
  /** Those with reinvocation that have not seen all later changes. */
  #invoked = new Set<string>()
  readonly #again = new Set<string>()

  invoked(id: string): void {
    this.#invoked.add(id)
  }

  /** The object changed after these were called. */
  changed(): void {
    for (const id of this.#invoked) this.#again.add(id)
    this.#invoked = new Set()
  }

  includes(id: string): boolean {
    return this.#again.has(id)
  }
}

/** The state of a plugin, which it keeps from the first round for the second. */
export function reinvocationOf({ memory }: MutationRound, plugin: string): Reinvocation {
  let state = memory.get(plugin) as Reinvocation | undefined
  if (!state) memory.set(plugin, (state = new Reinvocation()))
  return state
}
