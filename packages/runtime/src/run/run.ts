import type { Operator } from '../define-operator.ts'
import { type RunOptions, runWith } from './run-with.ts'
import { systemRunHost } from './system-run-host.ts'

/**
 * The whole program of an operator: reads flags and environment (`--help` shows them), connects to the cluster, serves health and
 * metrics, and runs the operator until SIGINT or SIGTERM, or until it fails. A second signal ends the process at once. Resolves after
 * a clean stop; a failure is told in one line and ends the process with code 1, a mistake in the flags with code 2.
 */
export async function run(operator: Operator, options: RunOptions = {}): Promise<void> {
  const host = systemRunHost()
  const code = await runWith(operator, host, options)
  // Something of the program's own may keep the process alive; a failed operator must still be restarted.
  if (code !== 0) host.exit(code)
}
