import type { Command, CommandContext } from '../command/command.ts'
import { errorLines } from '../entry/error-lines.ts'
import { findEntry } from '../entry/find-entry.ts'
import { type LoadedOperator, loadOperator } from '../entry/load-operator.ts'
import { projectRuntime } from '../entry/project-runtime.ts'
import { InterruptedError } from '../terminal/interrupted-error.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { UsageError } from '../usage-error.ts'

/** Runs an operator in this process, as its own program would. */
export const runOperatorCommand: Command = {
  name: 'run',
  summary: 'Run an operator against the cluster of the current kubeconfig',
  help: `Usage: kubewright run [ENTRY] [FLAGS]

Runs an operator against the cluster that KUBECONFIG, ~/.kube/config or the
service account of a pod names, until it is interrupted: what its own program
does. Its kinds must be installed; see kubewright install --help.

ENTRY is a module that exports an operator or calls run(operator), or the folder
of a project. Without it: "kubewright": { "operator": FILE } in package.json,
else src/main.ts or src/operator.ts. TypeScript needs tsx in the project, or
Node 22.18.

FLAGS are those of a kubebuilder binary, such as --leader-elect,
--metrics-bind-address=:8443 and --log-level=debug:
  kubewright run -- --help`,
  handedOnHelp: async () => (await import('@kubewright/runtime')).runHelp({ name: 'operator' }),
  endsInOrder: true,
  run: (args, context) => runOperator(args, context),
}

async function runOperator(
  args: readonly string[],
  { clock, note, signal, terminal = noTerminal }: CommandContext,
): Promise<number> {
  const { paintNote } = terminal
  const [first] = args
  const given = first?.startsWith('-') ? undefined : first
  const rest = given === undefined ? args : args.slice(1)
  const entry = await findEntry(given, process.cwd())
  let loaded: LoadedOperator
  try {
    loaded = await loadOperator(entry, clock)
  } catch (error) {
    if (error instanceof UsageError) throw error
    note(`${paintNote('red', 'kubewright run:')} ${entry.name} cannot be loaded`)
    for (const line of errorLines(error, entry.project)) note(`  ${line}`)
    return 1
  }
  const { operator, options, ended } = loaded
  const runtime = await projectRuntime(entry.file)
  // Nobody listened while the code was loaded.
  if (signal.aborted) throw new InterruptedError()
  const own = runtime.systemRunHost()
  const host = {
    ...own,
    args: rest[0] === '--' ? rest.slice(1) : rest,
    note: (line: string) => {
      // Lines of the log are left whole; what ends the program is told as by every command.
      const who = `${operator.name}:`
      if (line.startsWith(`${who} `)) note(paintNote('red', who) + line.slice(who.length))
      else own.note(line === `See ${operator.name} --help` ? 'See kubewright run -- --help' : line)
    },
  }
  const code = await runtime.runWith(operator, host, options)
  ended()
  // Something of the program's own may keep the process alive; a failed operator must still be restarted.
  if (code !== 0) host.exit(code)
  return code
}
