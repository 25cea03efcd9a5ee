import {
  type ControllerParts,
  defineKeyController,
  type KeyController,
  type KeyControllerOptions,
  type KeyReconciler,
} from '@kubewright/runtime'

/** What {@link defineBuiltin} takes: a key controller whose reconciler is made for each run, from what the manager gives. */
export interface BuiltinOptions extends Omit<KeyControllerOptions, 'reconcile'> {
  start(parts: ControllerParts): KeyReconciler
}

/** Describes a built-in controller: it needs the clock and the random source of its manager, which a plain reconcile does not get. */
export function defineBuiltin(options: BuiltinOptions): KeyController {
  const { start, ...rest } = options
  const value = defineKeyController({ ...rest, reconcile: () => undefined })
  return Object.freeze({ ...value, start: (parts: ControllerParts) => start(parts) })
}
