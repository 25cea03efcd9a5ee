import { type AnyKind, type DraftParts, type Kind, type KubeObject, validateFieldManager } from '@kubewright/api'
import { type Duration, isQualifiedName, toMillis } from '@kubewright/base'
import type { AccessRule } from '../controller/access-rule.ts'
import type { HotLoopOptions } from '../controller/hot-loop-detector.ts'
import type { Predicate } from '../controller/sources/predicate.ts'
import type { Source } from '../controller/sources/source.ts'
import type { RateLimiter } from '../queue/rate-limiter.ts'
import type { Adoption, Context, Outcome } from './context.ts'
import { type LabelSelection, type OwnedKind, owned, selectorText, type Watch } from './watched-kinds.ts'

type Awaitable<T> = T | Promise<T>

/** What {@link defineController} takes. */
export interface ControllerOptions<Read, Status> {
  /** Kinds whose objects this controller applies; a change of one reconciles its owner. */
  readonly owns?: readonly (AnyKind | OwnedKind)[]
  /** Further kinds to watch, each with a mapping to keys. */
  readonly watches?: readonly Watch[]
  /** Further sources of keys, such as timers and channels. */
  readonly sources?: readonly Source[]
  /** Which changes of the kind itself matter; all must agree. Deletions always do. @default every change */
  readonly predicates?: readonly Predicate<Read & KubeObject>[] | undefined
  /** Only objects with matching labels are reconciled: one that loses them with its finalizer on keeps that. @default all */
  readonly selector?: LabelSelection | undefined
  /** Only objects in these namespaces are reconciled. @default those of the operator */
  readonly namespaces?: readonly string[] | undefined
  /** How many objects are reconciled at once. @default 1 */
  readonly concurrency?: number | undefined
  /** @default the kind in lower case */
  readonly name?: string | undefined
  /** Aborts the signal of a reconcile after this long. @default none */
  readonly timeout?: Duration | undefined
  /** After how long a running reconcile is reported as hanging, again and again. @default '1m' */
  readonly hangAfter?: Duration | undefined
  /** When an object counts as being reconciled in circles; false means never. @default 20 times within a minute */
  readonly hotLoop?: HotLoopOptions | false | undefined
  /** How long the watches may take to deliver what there is before the start fails. @default '2m' */
  readonly syncTimeout?: Duration | undefined
  /** Makes the back-off after failures. @default for each object, 5 ms doubling to 1000 s, with jitter */
  readonly rateLimiter?: (() => RateLimiter<string>) | undefined
  /** The priority of changes of the kind itself; the initial list and repetitions have a low one all the same. @default 0 */
  readonly priority?: number | undefined
  /** Whether it waits until this process leads. @default true */
  readonly needsLeader?: boolean | undefined
  /** The finalizer that `cleanup` needs. @default `<plural>.<group>/<name>` */
  readonly finalizer?: string | undefined
  /**
   * Deletes children that this controller once applied and that a reconcile which succeeded did not apply: their kinds must be in
   * `owns`. A reconcile that returns early without applying anything thus gives all of them up, unless it returns `prune: false`.
   * @default false
   */
  readonly prune?: boolean | undefined
  /** Whether `apply` may take over objects that have no controller. @default 'ours' */
  readonly adopt?: Adoption | undefined
  /** Who is recorded as the owner of what it applies. @default `<operator>/<name>` */
  readonly fieldManager?: string | undefined
  /** Rights that `reconcile` needs for what it does with `client`. */
  readonly rbac?: readonly AccessRule[] | undefined
  /** Brings the world closer to what the object asks for. Never called for an object that is being deleted. */
  reconcile(object: Read, context: Context): Awaitable<Outcome<DraftParts<Status>> | void>
  /** Having one adds a finalizer; when it returns without `requeueAfter`, the finalizer is removed and the object may go. */
  cleanup?(object: Read, context: Context): Awaitable<Outcome<never> | void>
}

/** A controller as an inspectable value: nothing is registered or started by making one. */
export interface Controller {
  readonly name: string
  readonly kind: AnyKind
  readonly owns: readonly OwnedKind[]
  readonly watches: readonly Watch[]
  readonly sources: readonly Source[]
  readonly predicates: readonly Predicate<never>[]
  /** In the syntax of `labelSelector=`. */
  readonly selector: string | undefined
  readonly namespaces: readonly string[] | undefined
  readonly concurrency: number
  readonly timeout: Duration | undefined
  readonly hangAfter: Duration | undefined
  readonly hotLoop: HotLoopOptions | false | undefined
  readonly syncTimeout: Duration
  readonly rateLimiter: (() => RateLimiter<string>) | undefined
  readonly priority: number
  readonly needsLeader: boolean
  /** What `cleanup`, if there is one, keeps objects with. */
  readonly finalizer: string
  readonly prune: boolean
  readonly adopt: Adoption
  readonly fieldManager: string | undefined
  readonly rbac: readonly AccessRule[]
  readonly reconcile: (object: never, context: Context) => Awaitable<Outcome<unknown> | void>
  readonly cleanup: ((object: never, context: Context) => Awaitable<Outcome<never> | void>) | undefined
}

/**
 * Any status at all. That a field may be the empty text makes the compiler keep literals: without it, `phase: 'Running'` in a
 * returned status would count as some text, which fits no enumeration.
 */
// biome-ignore lint/complexity/noBannedTypes: `unknown` would swallow the literals, and `object` is not everything.
type AnyStatus = {} | null | undefined | LiteralFields
interface LiteralFields {
  readonly [field: string]: LiteralFields | readonly LiteralFields[] | '' | 0 | false | undefined
}

/** Describes how objects of a kind are reconciled. Pure: the value is run by a manager. */
export function defineController<Read, Write, Status extends AnyStatus>(
  kind: Kind<Read, Write, Status>,
  // The kind alone decides about the types: a returned status is checked, not learned from.
  options: ControllerOptions<NoInfer<Read>, NoInfer<Status>>,
): Controller {
  const { concurrency = 1, name = kind.kind.toLowerCase(), syncTimeout = '2m', adopt = 'ours' } = options
  const { finalizer = `${kind.plural}.${kind.group === '' ? 'core' : kind.group}/${name}`, fieldManager } = options
  const refuse = (field: string, problem: string): never => {
    throw new RangeError(`Cannot define controller "${name}" as '${field}' ${problem}`)
  }
  const [nameProblem] = name.includes('/') ? ['it must not contain a slash'] : isQualifiedName(name)
  if (nameProblem !== undefined)
    refuse('name', `cannot be used in metrics, finalizers and field managers: ${nameProblem}`)
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    refuse('concurrency', `must be a positive integer: current value is ${concurrency}`)
  }
  if (options.timeout !== undefined && !(toMillis(options.timeout) > 0)) {
    refuse('timeout', `must be a duration greater than 0: current value is ${options.timeout}`)
  }
  if (!(toMillis(syncTimeout) > 0)) {
    refuse('syncTimeout', `must be a duration greater than 0: current value is ${syncTimeout}`)
  }
  // Only a controller that cleans up shows its finalizer to the server.
  const [finalizerProblem] = options.cleanup || options.finalizer !== undefined ? finalizerProblems(finalizer) : []
  if (finalizerProblem !== undefined) refuse('finalizer', `cannot be "${finalizer}": ${finalizerProblem}`)
  const [managerProblem] = fieldManager === undefined ? [] : validateFieldManager(fieldManager, 'fieldManager')
  if (fieldManager === '') refuse('fieldManager', 'must not be empty: leave it out for the default')
  if (managerProblem !== undefined) refuse('fieldManager', managerProblem.detail)
  if (options.prune && (options.owns ?? []).length === 0) {
    refuse('prune', "needs 'owns': name the kinds of the children")
  }
  return Object.freeze({
    name,
    kind,
    owns: Object.freeze((options.owns ?? []).map((one) => (typeof one === 'function' ? owned(one) : one))),
    watches: Object.freeze([...(options.watches ?? [])]),
    sources: Object.freeze([...(options.sources ?? [])]),
    predicates: Object.freeze([...(options.predicates ?? [])]),
    selector: selectorText(options.selector),
    namespaces: options.namespaces && Object.freeze([...options.namespaces]),
    concurrency,
    timeout: options.timeout,
    hangAfter: options.hangAfter,
    hotLoop: options.hotLoop,
    syncTimeout,
    rateLimiter: options.rateLimiter,
    priority: options.priority ?? 0,
    needsLeader: options.needsLeader ?? true,
    finalizer,
    prune: options.prune ?? false,
    adopt,
    fieldManager,
    rbac: Object.freeze([...(options.rbac ?? [])]),
    reconcile: (object: never, context: Context) => options.reconcile(object, context),
    cleanup: options.cleanup ? (object: never, context: Context) => options.cleanup!(object, context) : undefined,
  })
}

/** API servers accept names without a domain only for a few finalizers of their own. */
function finalizerProblems(finalizer: string): string[] {
  if (!finalizer.includes('/')) return ["it needs a domain, as in 'example.com/cleanup'"]
  return isQualifiedName(finalizer)
}
