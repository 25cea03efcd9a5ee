import type { Operator } from '../define/define-operator.ts'
import { type RunOptions, runWith } from './run-with.ts'
import { systemRunHost } from './system-run-host.ts'

/** What `run` hands an operator to, instead of running it, where somebody else loads the program. */
export type RunHook = (operator: Operator, options: RunOptions) => Promise<void>

/**
 * Where a {@link RunHook} is found on the global object. Tools that load an operator's program, such as `kubewright dev`, may have
 * another copy of this package than the program has: a global is all that they share.
 */
export const runHookSymbol: unique symbol = Symbol.for('kubewright.run') as never

/**
 * The whole program of an operator: reads flags and environment (`--help` shows them), connects to the cluster, serves health and
 * metrics, and runs the operator until SIGINT or SIGTERM, or until it fails. A second signal ends the process at once. Resolves after
 * a clean stop; a failure is told in one line and ends the process with code 1, a mistake in the flags with code 2.
 */
export async function run(operator: Operator, options: RunOptions = {}): Promise<void> {
  const hook = (globalThis as { [runHookSymbol]?: RunHook })[runHookSymbol]
  if (hook) return hook(operator, options)
  const host = systemRunHost()
  const code = await runWith(operator, host, options)
  // Something of the program's own may keep the process alive; a failed operator must still be restarted.
  if (code !== 0) host.exit(code)
}
