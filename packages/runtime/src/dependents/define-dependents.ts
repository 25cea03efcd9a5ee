import type { AnyKind, ConditionDraft, DraftParts, Kind } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import { can } from '../controller/access-rule.ts'
import { ReconcileError } from '../controller/reconcile-errors.ts'
import type { Context, Outcome, StatusParts } from '../define/context.ts'
import { type Controller, type ControllerOptions, makeController } from '../define/define-controller.ts'
import type { Dependent } from './dependent.ts'
import { dependentConditions } from './dependent-conditions.ts'
import { DependentsRun, type ReadDependents } from './dependents-run.ts'

/** Options of {@link defineDependents}: those of a controller, with dependents instead of `reconcile`. */
export interface DependentsOptions<Read, Status> extends Omit<ControllerOptions<Read, Status>, 'reconcile' | 'prune'> {
  /** The dependents. Each comes after those that it depends on. */
  readonly dependents: readonly Dependent<Read, AnyKind>[]
  /** Further fields of the status. Conditions are added to those of the dependents. @default none */
  status?(primary: Read, dependents: ReadDependents, context: Context): Awaitable<StatusParts<DraftParts<Status>>>
}

// Deletions of dependents trigger the next reconcile; this is for those that other controllers hold back.
const recheckCleanup = '1m'

/**
 * Defines a controller by the objects that it keeps for each object of a kind. Each reconcile applies the wanted
 * dependents whose dependencies are ready, deletes those that are no longer wanted, and reports each in a condition of
 * the status: `WebReady` for a dependent named `web`, and `Ready` for all of them, where the kind declares these types.
 *
 * If a dependent cannot be applied, those that do not depend on it still are; then the reconcile fails and is retried.
 * If a dependent has `dependsOn`, or if there is a `cleanup`, the controller uses a finalizer: it deletes the dependents
 * in the opposite order, each after the objects that depend on it are gone, and calls `cleanup` last. Otherwise the
 * garbage collector deletes them.
 */
export function defineDependents<Read, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: DependentsOptions<NoInfer<Read>, NoInfer<Status>>,
): Controller {
  const { dependents, status, cleanup, owns = [], rbac = [], ...rest } = options
  checkDependents(kind, dependents)
  const kinds = [...new Set(dependents.map((each) => each.kind))]
  const isOrdered = dependents.some(({ dependsOn }) => dependsOn.length > 0)

  async function reconcile(primary: Read, context: Context): Promise<Outcome<DraftParts<Status>>> {
    const run = new DependentsRun(primary, dependents, context)
    await run.apply()
    await run.prune()
    const further = (await status?.(primary, run, context)) as {
      readonly conditions?: readonly ConditionDraft[] | undefined
    }
    const conditions = [...dependentConditions(kind, run.states), ...(further?.conditions ?? [])]
    // The types of a status are unknown here. `status` was checked when it was defined.
    const whole = { ...further, ...(conditions.length > 0 ? { conditions } : {}) } as DraftParts<Status> & object
    const failures = [...run.states].flatMap(([name, state]) => (state.state === 'failed' ? [[name, state.error]] : []))
    if (failures.length === 0) return { status: whole }
    const errors = failures.map(([, error]) => error)
    const cause = errors.length === 1 ? errors[0] : new AggregateError(errors)
    throw new ReconcileError(`Cannot apply ${failures.map(([name]) => name).join(', ')}`, { cause, mergeStatus: whole })
  }

  async function cleanUp(primary: Read, context: Context): Promise<Outcome<DraftParts<Status>> | void> {
    const isDone = await new DependentsRun(primary, dependents, context).cleanUp()
    return isDone ? cleanup?.(primary, context as never) : { requeueAfter: recheckCleanup }
  }

  return makeController(kind, {
    ...rest,
    owns: [...kinds, ...owns],
    rbac: [...kinds.map((each) => can(each, 'delete')), ...rbac],
    reconcile,
    ...(isOrdered || cleanup ? { cleanup: cleanUp } : {}),
  } as ControllerOptions<Read, Status>) as Controller
}

function checkDependents(kind: AnyKind, dependents: readonly Dependent<never, AnyKind>[]): void {
  const refuse = (problem: string): never => {
    throw new TypeError(`Cannot define dependents of ${kind.kind} as ${problem}`)
  }
  if (dependents.length === 0) refuse("'dependents' is empty: add at least one, or use defineController")
  const earlier = new Map<string, unknown>()
  for (const dependent of dependents) {
    const { name, dependsOn } = dependent
    if (earlier.has(name)) refuse(`two dependents are named "${name}": give one of them another name`)
    for (const other of dependsOn) {
      if (earlier.get(other.name) !== other) {
        refuse(`"${name}" depends on "${other.name}", which does not come before it in 'dependents'`)
      }
    }
    earlier.set(name, dependent)
  }
}
