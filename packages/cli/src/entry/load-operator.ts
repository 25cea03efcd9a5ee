import { pathToFileURL } from 'node:url'
import type { Clock } from '@kubewright/base'
import { UsageError } from '@kubewright/base'
import type { Operator, RunHook, RunOptions } from '@kubewright/runtime'
import { enableTypeScript } from './enable-typescript.ts'
import type { Entry } from './find-entry.ts'

/** An operator that was loaded from its module. */
export interface LoadedOperator {
  readonly operator: Operator
  /** What its program says besides it. */
  readonly options: RunOptions
  /** Lets the program go on after its `run`, if it called that. */
  readonly ended: () => void
}

// For programs that get ready before they call run.
const patienceMillis = 10_000

/**
 * Loads a module in this process and takes the operator out of it: the one that it exports, or the one that it calls `run` with,
 * which then does not start anything. Errors of the module are thrown as they are.
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
  // The name under which every copy of the runtime looks for it.
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('kubewright.run')] = hook
  return await Promise.race([taken, exported(entry, clock, taken, called.signal)])
}

async function exported(
  entry: Entry,
  clock: Clock,
  taken: Promise<LoadedOperator>,
  called: AbortSignal,
): Promise<LoadedOperator> {
  const module = (await import(pathToFileURL(entry.file).href)) as Readonly<Record<string, unknown>>
  // A program that waits for its run gets here after it.
  if (called.aborted) return taken
  const found = await operatorIn(module)
  if (found !== undefined) return { operator: found, options: {}, ended: () => undefined }
  const names = Object.keys(module)
  if (names.length === 0) {
    // A program that does not export anything is about to call run.
    await clock.sleep(patienceMillis, { signal: called }).catch(() => undefined)
    if (called.aborted) return taken
  }
  throw new UsageError(
    `${entry.name} has no operator: export one that defineOperator made, or call run(operator) in the module that you name (${seen(module)})`,
  )
}

/** The operator among what a module exports: as default, as `operator`, or the only one there is; functions without parameters may return it. */
async function operatorIn(module: Readonly<Record<string, unknown>>): Promise<Operator | undefined> {
  for (const name of ['default', 'operator']) {
    const operator = await operatorOf(module[name])
    if (operator) return operator
  }
  const values = Object.values(module).filter(isOperator)
  if (values.length === 1) return values[0]
  // Functions may have effects: of those with other names only one that says what it makes is called.
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

/** By its form: it may have been made by another copy of the runtime. */
function isOperator(value: unknown): value is Operator {
  if (typeof value !== 'object' || value === null) return false
  const { name, controllers, webhooks, conversions, runnables } = value as Partial<Record<keyof Operator, unknown>>
  return typeof name === 'string' && [controllers, webhooks, conversions, runnables].every(Array.isArray)
}

function seen(module: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(module).map(([name, value]) =>
    typeof value === 'function' && value.length > 0 ? `${name}, which needs arguments` : name,
  )
  return parts.length === 0 ? 'it exports nothing, and did not call run' : `it exports ${parts.join('; ')}`
}
