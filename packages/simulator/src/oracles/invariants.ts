import type { KubeObject } from '@kubewright/api'
import { defineOracle, type ObservingOracle } from './define-oracle.ts'

/** A property of the cluster that the author of an operator states. */
export interface Invariant<World = unknown> {
  readonly name: string
  /** `always`: after every change. `settled`: at rest, when faults have ended and no work is left. `eventually`: at least once in a run. */
  readonly when: 'always' | 'settled' | 'eventually'
  /** Returns the problem, or undefined when the property holds. `objects` are all objects that exist besides those of an empty cluster. */
  readonly check: (objects: readonly KubeObject[], world: World) => string | undefined
}

/** The oracle that checks an invariant. */
export const invariantOracle = ({ name, when, check }: Invariant): ObservingOracle =>
  defineOracle({
    name,
    property: name,
    needs: 'run',
    observe({ outside }, report) {
      const confirm = (objects: readonly KubeObject[]): void => {
        const problem = check(objects, outside)
        if (problem !== undefined) report(problem)
      }
      if (when === 'always') return { changed: confirm }
      if (when === 'settled') return { ended: async ({ written }) => confirm(await written()) }
      let hasHeld = false
      return {
        changed(objects) {
          hasHeld = check(objects, outside) === undefined || hasHeld
        },
        async ended() {
          if (!hasHeld) report(`The invariant "${name}" did not hold at any time`)
        },
      }
    },
  })
