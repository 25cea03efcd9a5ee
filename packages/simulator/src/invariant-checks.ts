import type { KubeObject } from '@kubewright/api'
import type { History } from './history.ts'
import type { Invariant } from './options.ts'

/** Checks the invariants of the author in one run. */
export class InvariantChecks {
  readonly #invariants: readonly Invariant[]
  readonly #history: History
  readonly #outside: unknown
  readonly #reached = new Set<Invariant>()

  /** `outside` is the state outside the cluster. */
  constructor(invariants: readonly Invariant[], history: History, outside: unknown) {
    this.#invariants = invariants
    this.#history = history
    this.#outside = outside
  }

  /** Checks the invariants of one moment. */
  async check(when: Invariant['when'], objects: () => Promise<readonly KubeObject[]>): Promise<void> {
    const due = this.#invariants.filter((one) => one.when === when)
    if (due.length === 0) return
    const found = await objects()
    for (const invariant of due) {
      const problem = invariant.check(found, this.#outside)
      if (when === 'eventually') {
        if (problem === undefined) this.#reached.add(invariant)
      } else if (problem !== undefined) this.#history.violate(invariant.name, problem)
    }
  }

  /** Reports the invariants that held at no time. */
  checkEventually(): void {
    for (const invariant of this.#invariants) {
      if (invariant.when === 'eventually' && !this.#reached.has(invariant)) {
        this.#history.violate(invariant.name, `The invariant "${invariant.name}" did not hold at any time`)
      }
    }
  }
}
