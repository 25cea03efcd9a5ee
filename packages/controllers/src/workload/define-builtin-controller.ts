import {
  type ControllerParts,
  defineKeyController,
  type EventRecorder,
  type KeyContext,
  type KeyController,
  type KeyControllerOptions,
  type KeyReconciler,
} from '@kubewright/runtime'

/**
 * Options of {@link defineBuiltinController}: a key controller whose reconciler is created at each start, from the manager's
 * parts.
 */
export interface BuiltinOptions extends Omit<KeyControllerOptions, 'reconcile'> {
  /** The component that its Events name. @default the controller's name */
  readonly reporter?: string | undefined
  start(parts: ControllerParts): KeyReconciler
}

/**
 * Defines a built-in controller. Unlike a plain key controller, its reconciler has access to the clock and random
 * source of the manager, and its Events name the controller as component, not the manager.
 */
export function defineBuiltinController(options: BuiltinOptions): KeyController {
  const { start, reporter: component = options.name, ...rest } = options
  const value = defineKeyController({
    // The rollout of many pods reconciles their owner often, and the comparison of all their versions would find no loop.
    hotLoop: false,
    ...rest,
    reconcile: () => undefined,
  })
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

/**
 * A context with its own Event recorder. All other members delegate to the wrapped context, which creates them lazily.
 */
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

  get cluster(): KeyContext['cluster'] {
    return this.#context.cluster
  }

  get clusters(): KeyContext['clusters'] {
    return this.#context.clusters
  }

  get watch(): KeyContext['watch'] {
    return this.#context.watch
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
