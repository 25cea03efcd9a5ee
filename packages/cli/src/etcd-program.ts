import { fail } from './command/run-or-help.ts'
import { runEtcd } from './envtest/run-etcd.ts'
import { runInProcess } from './run-in-process.ts'

/** Runs the program `etcd` of `envtest`, and sets the exit code of the process. `main` is the URL of the program. */
export function runEtcdProgram(args: readonly string[], main: string): Promise<void> {
  return runInProcess(main, (context) => runEtcd(args, context).catch((error: unknown) => fail('etcd', error, context)))
}
