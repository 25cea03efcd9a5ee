import {
  type ControllerParts,
  defineKeyController,
  type EventRecorder,
  type KeyContext,
  type KeyController,
  type KeyControllerOptions,
  type KeyReconciler,
} from '@kubewright/runtime'

/** What {@link defineBuiltin} takes: a key controller whose reconciler is made for each run, from what the manager gives. */
export interface BuiltinOptions extends Omit<KeyControllerOptions, 'reconcile'> {
  /** Who its Events are from. @default its name */
  readonly reporter?: string
  start(parts: ControllerParts): KeyReconciler
}

/**
 * Describes a built-in controller: it needs the timers and the random source of its manager, which a plain reconcile does not get, and
 * its Events are its own and not the manager's.
 */
export function defineBuiltin(options: BuiltinOptions): KeyController {
  const { start, reporter: component = options.name, ...rest } = options
  const value = defineKeyController({ ...rest, reconcile: () => undefined })
  return Object.freeze({
    ...value,
    start: (parts: ControllerParts): KeyReconciler => {
      const reconcile = start(parts)
      const events: EventRecorder = {
        record: (object, note) => parts.events.record(object, { component, api: 'v1', ...note }),
      }
      return (key, context) => reconcile(key, new ReportingContext(context, events))
    },
  })
}

/** A context with Events of its own. Its other members are made when they are asked for, as those of the one that it stands for. */
class ReportingContext implements KeyContext {
  readonly events: EventRecorder
  readonly #context: KeyContext

  constructor(context: KeyContext, events: EventRecorder) {
    this.#context = context
    this.events = events
  }

  get client(): KeyContext['client'] {
    return this.#context.client
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get now(): KeyContext['now'] {
    return this.#context.now
  }

  get log(): KeyContext['log'] {
    return this.#context.log
  }

  get causes(): KeyContext['causes'] {
    return this.#context.causes
  }

  get reconcileID(): string {
    return this.#context.reconcileID
  }

  get waitsFor(): KeyContext['waitsFor'] {
    return this.#context.waitsFor
  }
}
