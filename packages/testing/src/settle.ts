import { KubewrightError } from '@kubewright/base'
import type { Manager } from '@kubewright/runtime'
import type { Store } from '@kubewright/storage'
import type { TimeDriver } from './time-driver.ts'

/** What {@link settle} looks at. */
export interface SettleParts {
  readonly managers: readonly Manager[]
  /** The store of the control plane: while it changes, somebody is at work. */
  readonly store: Pick<Store, 'revision'>
  readonly time: TimeDriver
  /** How long nothing may happen, beyond turns of the event loop, for requests that take real time. */
  readonly quietMillis: number
}

// A change travels through watch, queue and reconcile in a few turns each; this many without any is an end.
const quietTurns = 40

/** Resolves when no controller has anything to do and nothing changes any more. */
export async function settle(parts: SettleParts, signal: AbortSignal): Promise<void> {
  const { managers, store, time, quietMillis } = parts
  for (;;) {
    const before = await store.revision()
    let quiet = true
    for (let turn = 0; turn < quietTurns && quiet; turn++) {
      await time.turn()
      quiet = isIdle(managers)
    }
    if (quiet && quietMillis > 0) await time.clock.sleep(quietMillis, { signal })
    if (quiet && isIdle(managers) && (await store.revision()) === before) return
    if (signal.aborted) throw notSettled(managers, signal.reason)
  }
}

function isIdle(managers: readonly Manager[]): boolean {
  return managers.every(({ runners }) =>
    runners.every((runner) => {
      const { ready, processing } = runner.queue()
      return ready.length === 0 && processing.length === 0
    }),
  )
}

function notSettled(managers: readonly Manager[], cause: unknown): KubewrightError {
  const busy = managers.flatMap(({ runners }) =>
    runners.flatMap((runner) => {
      const { ready, processing } = runner.queue()
      const keys = [...processing, ...ready].map(({ key }) => key)
      return keys.length === 0 ? [] : [`${runner.name}: ${keys.slice(0, 5).join(', ')}`]
    }),
  )
  const what = busy.length === 0 ? 'objects keep changing' : `still to be reconciled: ${busy.join('; ')}`
  return new KubewrightError('KW_TEST_NOT_SETTLED', `The environment does not settle: ${what}`, { cause })
}
