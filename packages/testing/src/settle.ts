import { KubewrightError } from '@kubewright/base'
import type { Manager } from '@kubewright/runtime'
import type { Store } from '@kubewright/storage'
import type { TimeDriver } from './time-driver.ts'

/** Dependencies of {@link settle}. */
export interface SettleParts {
  readonly managers: readonly Manager[]
  /** The store of the control plane: a changed revision means that work is in progress. */
  readonly store: Pick<Store, 'revision'>
  readonly time: TimeDriver
  /** How long the environment must be quiet, in addition to event loop turns, for requests that take real time. */
  readonly quietMillis: number
  /** The number of turns without work after which all work is done. */
  readonly quietTurns: number
}

/** Resolves when no controller has work left and no object changes. */
export async function settle(parts: SettleParts, signal: AbortSignal): Promise<void> {
  const { managers, store, time, quietMillis, quietTurns } = parts
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
  const what = busy.length === 0 ? 'objects keep changing' : `keys still queued: ${busy.join('; ')}`
  return new KubewrightError('KW_TEST_NOT_SETTLED', `The environment did not settle: ${what}`, { cause })
}
