import type { ControllerParts } from '../controller/controller-parts.ts'
import { type ControllerRunner, createControllerRunner } from '../controller/controller-runner.ts'
import type { KeyController } from '../controller/key-controller.ts'
import type { Runnable } from '../define/runnable.ts'

/** Where a controller runs: on every replica, on this replica's share of the keys, or on the leader. */
export type Workplace = 'other' | 'shared' | 'leader'

/** A controller in a manager: its runner, and the runnable that the manager starts and stops. */
export interface ManagedController {
  /** The name of the controller's definition. */
  readonly controller: string
  readonly runner: ControllerRunner
  readonly runnable: Runnable
  readonly workplace: Workplace
}

const retryPause = 5_000

/**
 * Creates the runner and the runnable of a controller; starts nothing. With `degraded`, a controller that cannot start or that ends
 * with an error starts again later instead of failing.
 */
export function manageController(
  controller: KeyController,
  workplace: Workplace,
  parts: ControllerParts,
  { degraded }: { readonly degraded: boolean },
): ManagedController {
  const { cluster, clock, log } = parts
  // The name distinguishes the clusters in metrics and logs.
  const name = cluster.name === '' ? controller.name : `${controller.name}@${cluster.name}`
  const runner = createControllerRunner({ ...controller, name }, parts)
  const untilItWorks = async (signal: AbortSignal, attempt: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        signal.throwIfAborted()
        if (!degraded) throw error
        log.error(error, 'Controller cannot start yet; retrying while the others run', { controller: name })
        await clock.sleep(retryPause, { signal })
      }
    }
  }
  const runnable: Runnable = {
    name: `controller "${name}"`,
    warmUp: ({ signal }) => untilItWorks(signal, () => runner.warmUp({ signal })),
    async run({ drain, abort }) {
      try {
        await untilItWorks(drain, () => runner.work({ drain, abort }))
      } catch (error) {
        if (!drain.aborted) throw error
      }
    },
  }
  return { controller: controller.name, runner, runnable, workplace }
}
