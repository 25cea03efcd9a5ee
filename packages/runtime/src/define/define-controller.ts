import {
  type AnyKind,
  type DraftParts,
  FieldPath,
  type Kind,
  type KubeObject,
  validateFieldManager,
} from '@kubewright/api'
import { type Awaitable, type Duration, isQualifiedName, toMillis } from '@kubewright/base'
import type { AccessRule } from '../controller/access-rule.ts'
import type { HotLoopOptions } from '../controller/hot-loop-detector.ts'
import type { ClusterChoice } from '../controller/key-controller.ts'
import type { Predicate } from '../controller/sources/predicate.ts'
import type { Source } from '../controller/sources/source.ts'
import type { RateLimiterFactory } from '../queue/rate-limiter.ts'
import { checkKinds, checkRules } from './check-definition.ts'
import type { Adoption, Context, FailureOutcome, Outcome } from './context.ts'
import type { AnyOutcome, OutcomeProblems } from './outcome-problems.ts'
import { type LabelSelection, type OwnedKind, owned, selectorText, type Watch, watch } from './watched-kinds.ts'

/** Options of {@link defineController}. */
export interface ControllerOptions<
  Read,
  Status,
  Reconciled = Awaitable<Outcome<DraftParts<Status>> | void>,
  Cleaned = Reconciled,
  Failed = Awaitable<FailureOutcome<DraftParts<Status>> | void>,
> {
  /** The kinds of the children that this controller applies. A change of a child reconciles its owner. */
  readonly owns?: readonly (AnyKind | OwnedKind)[] | undefined
  /** Further kinds to watch, each with a mapping to keys. */
  readonly watches?: readonly Watch[] | undefined
  /**
   * Further kinds that `reconcile` reads with `client`: they are cached, and their changes reconcile nothing. The permission to
   * read them is derived. Reads of kinds that are named nowhere go to the server. @default none
   */
  readonly reads?: readonly AnyKind[] | undefined
  /** Further sources of keys, such as timers and channels. */
  readonly sources?: readonly Source[] | undefined
  /**
   * Which changes of the kind itself trigger a reconcile; all predicates must accept. Deletions always do. @default
   * every change
   */
  readonly predicates?: readonly Predicate<Read & KubeObject>[] | undefined
  /**
   * Reconciles only objects with matching labels. An object that stops matching keeps the controller's finalizer.
   * @default all
   */
  readonly selector?: LabelSelection | undefined
  /** Reconciles only objects in these namespaces. @default those of the operator */
  readonly namespaces?: readonly string[] | undefined
  /** The maximum number of concurrent reconciles. @default 1 */
  readonly concurrency?: number | undefined
  /** @default the kind in lower case */
  readonly name?: string | undefined
  /** The time after which a reconcile's signal aborts. @default none */
  readonly timeout?: Duration | undefined
  /** The time after which a running reconcile is reported as hanging, repeatedly. @default '1m' */
  readonly hangAfter?: Duration | undefined
  /** The threshold of hot loops; false disables the detection. @default 20 reconciles within a minute */
  readonly hotLoop?: HotLoopOptions | false | undefined
  /** The time limit for the initial lists; then the start fails. @default '2m' */
  readonly syncTimeout?: Duration | undefined
  /** Creates the rate limiter of retries. @default per object, 5 ms doubling to 1000 s, with jitter */
  readonly rateLimiter?: RateLimiterFactory | undefined
  /**
   * How long a change waits for further changes of the same object before the reconcile: all changes within this time
   * cause one reconcile. @default none
   */
  readonly debounce?: Duration | undefined
  /**
   * The minimum time from the start of a reconcile to the start of the next one of the same object, whatever causes it.
   * @default none
   */
  readonly minInterval?: Duration | undefined
  /**
   * The priority of changes of the kind itself. Objects of the initial list and resyncs have a low priority. @default 0
   */
  readonly priority?: number | undefined
  /** Whether the controller runs only while this process leads. @default true */
  readonly needsLeader?: boolean | undefined
  /** On which clusters of the manager the controller runs: `others` are all but the main one. @default 'all' */
  readonly clusters?: ClusterChoice | undefined
  /** The finalizer that is used for `cleanup`. @default `<plural>.<group>/<name>` */
  readonly finalizer?: string | undefined
  /**
   * Deletes children that this controller applied earlier and that a successful reconcile did not apply. Their kinds
   * must be in `owns`. A reconcile that returns early without applying anything therefore deletes all of them, unless
   * it returns `prune: false`.
   * @default false
   */
  readonly prune?: boolean | undefined
  /** Whether `apply` may adopt objects that have no controller. @default 'ours' */
  readonly adopt?: Adoption | undefined
  /** The field manager of its writes. @default `<operator>/<name>` */
  readonly fieldManager?: string | undefined
  /** Permissions that `reconcile` needs for its use of `client`, such as `can(Job, 'delete')`. */
  readonly rbac?: readonly AccessRule[] | undefined
  /**
   * Whether an update by which this controller only wrote the status, or its finalizer, reconciles the object again.
   * Changes by others always do. Set it to true for a reconciler that proceeds in steps and waits for its own status.
   * @default false
   */
  readonly reconcileOwnWrites?: boolean | undefined
  /**
   * Whether `reconcile` is also called for objects that are being deleted, as long as they exist, such as Pods during
   * their grace period. Adds no finalizer, so the object may be gone before the reconcile. Excludes `cleanup`.
   * @default false
   */
  readonly reconcileDeleting?: boolean | undefined
  /** Reconciles an object. Called for an object that is being deleted only with `reconcileDeleting`. */
  reconcile(object: Read, context: Context<DraftParts<Status>>): Reconciled
  /**
   * Cleans up before an object is deleted. A controller with `cleanup` adds a finalizer, and removes it when `cleanup`
   * returns without `requeueAfter`. A returned status is written before that.
   */
  cleanup?(object: Read, context: Context<DraftParts<Status>>): Cleaned
  /**
   * Returns the status to write when `reconcile` or `cleanup` fails. The error then takes its usual course: log, metrics
   * and back-off. Not called for errors that carry a status themselves, for conflicts and `RetryLater`, which are not
   * failures, and when the process stops.
   */
  onError?(object: Read, error: Error, context: Context<DraftParts<Status>>): Failed
}

/** The definition of a controller. Creating one registers and starts nothing. */
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
  readonly rateLimiter: RateLimiterFactory | undefined
  readonly debounce: Duration | undefined
  readonly minInterval: Duration | undefined
  readonly priority: number
  readonly needsLeader: boolean
  readonly clusters: ClusterChoice
  /** The finalizer of `cleanup`, if there is one. */
  readonly finalizer: string
  readonly prune: boolean
  readonly adopt: Adoption
  readonly fieldManager: string | undefined
  readonly rbac: readonly AccessRule[]
  readonly reconcileOwnWrites: boolean
  readonly reconcileDeleting: boolean
  readonly reconcile: (object: never, context: Context) => Awaitable<Outcome<unknown> | void>
  readonly cleanup: ((object: never, context: Context) => Awaitable<Outcome<unknown> | void>) | undefined
  readonly onError:
    | ((object: never, error: Error, context: Context) => Awaitable<FailureOutcome<unknown> | void>)
    | undefined
}

/** A controller whose functions have the types of its kind, so that unit tests can call them. */
export interface ControllerOf<Read, Status> extends Controller {
  readonly reconcile: (
    object: Read,
    context: Context<DraftParts<Status>>,
  ) => Awaitable<Outcome<DraftParts<Status>> | void>
  readonly cleanup:
    | ((object: Read, context: Context<DraftParts<Status>>) => Awaitable<Outcome<DraftParts<Status>> | void>)
    | undefined
  readonly onError:
    | ((
        object: Read,
        error: Error,
        context: Context<DraftParts<Status>>,
      ) => Awaitable<FailureOutcome<DraftParts<Status>> | void>)
    | undefined
}

/**
 * Any status. The empty text among the field types makes the compiler infer literals: otherwise `phase: 'Running'` in a
 * returned status would be widened to string, which no enumeration accepts.
 */
// biome-ignore lint/complexity/noBannedTypes: `unknown` would lose the literals, and `object` excludes primitives.
type AnyStatus = {} | null | undefined | LiteralFields
interface LiteralFields {
  readonly [field: string]: LiteralFields | readonly LiteralFields[] | '' | 0 | false | undefined
}

/**
 * Defines how objects of a kind are reconciled. Pure: a manager runs it.
 * @signature function defineController<Read, Write, Status>(kind: Kind<Read, Write, Status>, options: ControllerOptions<Read, Status>): ControllerOf<Read, Status>
 */
export function defineController<
  Read,
  Write,
  Status extends AnyStatus,
  const Reconciled extends AnyOutcome<Outcome<DraftParts<Status>>>,
  const Cleaned extends AnyOutcome<Outcome<DraftParts<Status>> | object> = void,
  const Failed extends AnyOutcome<FailureOutcome<DraftParts<Status>> | object> = void,
>(
  kind: Kind<Read, Write, Status>,
  // NoInfer: the kind alone determines the types, so that a returned status is checked, not inferred.
  options: ControllerOptions<NoInfer<Read>, NoInfer<Status>, Reconciled, Cleaned, Failed> &
    OutcomeProblems<'reconcile', Reconciled, Outcome<DraftParts<NoInfer<Status>>> | void> &
    OutcomeProblems<'cleanup', Cleaned, Outcome<DraftParts<NoInfer<Status>>> | void> &
    OutcomeProblems<'onError', Failed, FailureOutcome<DraftParts<NoInfer<Status>>> | void>,
): ControllerOf<NoInfer<Read>, NoInfer<Status>> {
  // The compiler has checked the results.
  return makeController(kind, options as unknown as ControllerOptions<Read, Status>)
}

/** {@link defineController} without the check of the results, for functions that are generic in the kind. */
export function makeController<Read, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: ControllerOptions<Read, Status>,
): ControllerOf<Read, Status> {
  const { concurrency = 1, name = kind.kind.toLowerCase(), syncTimeout = '2m', adopt = 'ours' } = options
  const { finalizer = `${kind.plural}.${kind.group === '' ? 'core' : kind.group}/${name}`, fieldManager } = options
  const refuse = (field: string, problem: string): never => {
    throw new RangeError(`Cannot define controller "${name}" as '${field}' ${problem}`)
  }
  const [nameProblem] = name.includes('/') ? ['it must not contain a slash'] : isQualifiedName(name)
  if (nameProblem !== undefined)
    refuse('name', `cannot be used in metrics, finalizers and field managers: ${nameProblem}`)
  const what = `controller "${name}"`
  checkKinds(what, 'owns', options.owns)
  checkKinds(what, 'watches', options.watches)
  checkKinds(what, 'reads', options.reads)
  checkRules(what, options.rbac)
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    refuse('concurrency', `must be a positive integer: current value is ${concurrency}`)
  }
  for (const field of ['timeout', 'debounce', 'minInterval'] as const) {
    const value = options[field]
    if (value !== undefined && !(toMillis(value) > 0)) {
      refuse(field, `must be a duration greater than 0: current value is ${value}`)
    }
  }
  if (!(toMillis(syncTimeout) > 0)) {
    refuse('syncTimeout', `must be a duration greater than 0: current value is ${syncTimeout}`)
  }
  // Only a controller with `cleanup` writes its finalizer.
  const [finalizerProblem] = options.cleanup || options.finalizer !== undefined ? finalizerProblems(finalizer) : []
  if (finalizerProblem !== undefined) refuse('finalizer', `cannot be "${finalizer}": ${finalizerProblem}`)
  const [managerProblem] =
    fieldManager === undefined ? [] : validateFieldManager(fieldManager, FieldPath.of('fieldManager'))
  if (fieldManager === '') refuse('fieldManager', 'must not be empty: leave it out for the default')
  if (managerProblem !== undefined) refuse('fieldManager', managerProblem.detail)
  if (options.prune && (options.owns ?? []).length === 0) {
    refuse('prune', "needs 'owns': name the kinds of the children")
  }
  if (options.reconcileDeleting && options.cleanup) {
    refuse(
      'reconcileDeleting',
      "excludes 'cleanup', which is called for objects that are being deleted: use one of them",
    )
  }
  return Object.freeze({
    name,
    kind,
    owns: Object.freeze((options.owns ?? []).map((one) => (typeof one === 'function' ? owned(one) : one))),
    // A watch without keys fills the cache and needs the same permission.
    watches: Object.freeze([...(options.watches ?? []), ...(options.reads ?? []).map((read) => watch(read, noKeys))]),
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
    debounce: options.debounce,
    minInterval: options.minInterval,
    priority: options.priority ?? 0,
    needsLeader: options.needsLeader ?? true,
    clusters: options.clusters ?? 'all',
    finalizer,
    prune: options.prune ?? false,
    adopt,
    fieldManager,
    rbac: Object.freeze([...(options.rbac ?? [])]),
    reconcileOwnWrites: options.reconcileOwnWrites ?? false,
    reconcileDeleting: options.reconcileDeleting ?? false,
    reconcile: (object: Read, context: Context<DraftParts<Status>>) => options.reconcile(object, context),
    cleanup: options.cleanup
      ? (object: Read, context: Context<DraftParts<Status>>) => options.cleanup!(object, context)
      : undefined,
    onError: options.onError
      ? (object: Read, error: Error, context: Context<DraftParts<Status>>) => options.onError!(object, error, context)
      : undefined,
  })
}

const noKeys = (): readonly string[] => []

/** API servers accept finalizers without a domain only for a few built-in ones. */
function finalizerProblems(finalizer: string): string[] {
  if (!finalizer.includes('/')) return ["it needs a domain, as in 'example.com/cleanup'"]
  return isQualifiedName(finalizer)
}
