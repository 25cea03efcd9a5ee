import type { FlagTable } from '@kubewright/base'
import type { Operator } from '../define/define-operator.ts'
import { keepHeapSmall } from './keep-heap-small.ts'
import type { RunOptions } from './run-with.ts'

/** Receives the operator instead of running it, for tools that load an operator's program. */
export type RunHook = (operator: Operator, options: RunOptions) => Promise<void>

/**
 * The key of a {@link RunHook} on the global object. Tools such as `kubewright dev` may load another copy of this
 * package than the program, so a global is the only thing that they share.
 */
export const runHookSymbol: unique symbol = Symbol.for('kubewright.run') as never

/**
 * The main function of an operator's program: reads flags and environment (see `--help`), connects to the cluster,
 * serves health checks and metrics, and runs the operator until SIGINT or SIGTERM, or until it fails. A second signal
 * ends the process at once. Makes V8 collect garbage early, unless flags of V8 decide about it. Resolves after a clean
 * stop. A failure is reported in one line and ends the process with code 1, invalid flags with code 2.
 *
 * @example
 * await run(operator, {
 *   flags: { region: { value: 'NAME', default: 'eu', help: 'Use this region' } },
 *   configure: ({ region }) => makeOperator(region),
 * })
 */
export async function run<const T extends FlagTable = FlagTable>(
  operator: Operator,
  options: RunOptions<T> = {},
): Promise<void> {
  const hook = (globalThis as { [runHookSymbol]?: RunHook | undefined })[runHookSymbol]
  if (hook) return hook(operator, options)
  keepHeapSmall()
  // Loaded here, because tools and tests import an operator without running it.
  const [{ runWith }, { systemRunHost }] = await Promise.all([import('./run-with.ts'), import('./system-run-host.ts')])
  const host = systemRunHost()
  const code = await runWith(operator, host, options)
  // Other parts of the program may keep the process alive; a failed operator must be restarted.
  if (code !== 0) host.exit(code)
}
