import { pathToFileURL } from 'node:url'
import type { Clock } from '@kubewright/base'
import { UsageError } from '@kubewright/base'
import type { Operator, RunHook, RunOptions } from '@kubewright/runtime'
import { enableTypeScript } from './enable-typescript.ts'
import type { Entry } from './find-entry.ts'
import { moduleProblem } from './module-problem.ts'

/** An operator and the way its module runs it. */
export interface LoadedOperator {
  readonly operator: Operator
  /** The options that its program passes to `run`. */
  readonly options: RunOptions
  /** Resolves the promise of the program's `run`, if the program called it. */
  readonly ended: () => void
}

// How long a program may take before it calls run.
const callMillis = 10_000

/**
 * Imports a module in this process and returns its operator: the one that it exports, or the one that it passes to `run`, which does not
 * start it in this case. Errors of the module are passed on.
 */
export async function loadOperator(entry: Entry, clock: Clock): Promise<LoadedOperator> {
  await enableTypeScript(entry.file)
  let take: (loaded: LoadedOperator) => void = () => undefined
  const taken = new Promise<LoadedOperator>((resolve) => {
    take = resolve
  })
  const called = new AbortController()
  const hook: RunHook = (operator, options) =>
    new Promise((ended) => {
      take({ operator, options, ended })
      called.abort()
    })
  // Every copy of the runtime looks for the hook under this symbol.
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('kubewright.run')] = hook
  return await Promise.race([taken, exported(entry, clock, taken, called.signal)])
}

async function exported(
  entry: Entry,
  clock: Clock,
  taken: Promise<LoadedOperator>,
  called: AbortSignal,
): Promise<LoadedOperator> {
  const module = (await import(pathToFileURL(entry.file).href).catch((error: unknown) => {
    const fix = moduleProblem(entry.file, error)
    throw fix === undefined ? error : new UsageError(`${entry.name} cannot be loaded: ${fix}`)
  })) as Readonly<Record<string, unknown>>
  // A program that awaits `run` finishes its import after the call.
  if (called.aborted) return taken
  const found = await operatorIn(module)
  if (found !== undefined) return { operator: found, options: {}, ended: () => undefined }
  const names = Object.keys(module)
  if (names.length === 0) {
    // A program without exports may call run later.
    await clock.sleep(callMillis, { signal: called }).catch(() => undefined)
    if (called.aborted) return taken
  }
  throw new UsageError(
    `${entry.name} has no operator: export the result of defineOperator, or call run(operator) (${exportsOf(module)})`,
  )
}

/** The operator that a module exports: as default, as `operator`, or as its only operator. A function without parameters may return it. */
async function operatorIn(module: Readonly<Record<string, unknown>>): Promise<Operator | undefined> {
  for (const name of ['default', 'operator']) {
    const operator = await operatorOf(module[name])
    if (operator) return operator
  }
  const values = Object.values(module).filter(isOperator)
  if (values.length === 1) return values[0]
  // Calling a function may have side effects: only one whose name ends with `operator` is called.
  const makers = Object.entries(module).filter(([name, value]) => /operator$/i.test(name) && isMaker(value))
  return makers.length === 1 ? operatorOf(makers[0]![1]) : undefined
}

async function operatorOf(value: unknown): Promise<Operator | undefined> {
  const made: unknown = isMaker(value) ? await value() : value
  return isOperator(made) ? made : undefined
}

function isMaker(value: unknown): value is () => unknown {
  return typeof value === 'function' && value.length === 0
}

/** Checks the shape, because the operator may come from another copy of the runtime. */
function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null) return false
  const { name, controllers, webhooks, conversions, runnables } = value as Partial<Record<keyof Operator, unknown>>
  return typeof name === 'string' && [controllers, webhooks, conversions, runnables].every(Array.isArray)
}

function exportsOf(module: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(module).map(([name, value]) =>
    typeof value === 'function' && value.length > 0 ? `${name}, which needs arguments` : name,
  )
  return parts.length === 0 ? 'it has no exports, and did not call run' : `it exports ${parts.join('; ')}`
}
