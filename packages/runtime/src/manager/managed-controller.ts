import { isKubewrightError } from '@kubewright/base'
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

// Errors that may resolve themselves while the program runs. Other errors are bugs in it.
const curable = ['KW_CACHE_NOT_SYNCED', 'KW_SOURCE_FAILED'] as const
const retryPause = 5_000

/**
 * Creates the runner and the runnable of a controller; starts nothing. With `degraded`, a controller whose sources do
 * not sync waits instead of failing.
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
  const warmUp = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
    for (;;) {
      try {
        return await runner.warmUp({ signal })
      } catch (error) {
        signal.throwIfAborted()
        if (!degraded || !curable.some((code) => isKubewrightError(error, code))) throw error
        log.error(error, 'Controller cannot start yet; retrying while the others run', { controller: name })
        await clock.sleep(retryPause, { signal })
      }
    }
  }
  const runnable: Runnable = {
    name: `controller "${name}"`,
    warmUp,
    async run({ drain, abort }) {
      try {
        await warmUp({ signal: drain })
      } catch (error) {
        if (drain.aborted) return
        throw error
      }
      await runner.work({ drain, abort })
    },
  }
  return { controller: controller.name, runner, runnable, workplace }
}
