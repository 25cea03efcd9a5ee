import { systemClock, type Timer } from '@kubewright/base'
import type { Command } from './command/command.ts'
import type { CommandContext } from './command/command-context.ts'
import { runOrHelp } from './command/run-or-help.ts'
import { upArguments } from './envtest/api-server-arguments.ts'
import { apiServerCommand } from './envtest/api-server-command.ts'
import { runInProcess } from './run-in-process.ts'
import { upCommand } from './up/up-command.ts'

/** The delay after the start, so that the first requests of clients are not delayed. */
const saveAfter = 500

/**
 * Runs `kubewright up`, and sets the exit code of the process. `save` keeps compiled code for the next start: it is called after the start,
 * and again at the end, when more functions are compiled. `main` is the URL of the program.
 */
export function runUpProgram(
  args: readonly string[],
  main: string,
  save: (() => void) | undefined,
  importConsole: CommandContext['importConsole'],
): Promise<void> {
  return runInProcess(main, (context) => serving(upCommand, args, { ...context, importConsole }, save))
}

/** Runs the program `kube-apiserver` of `envtest`, with the arguments of kube-apiserver. See {@link runUpProgram}. */
export function runApiServerProgram(
  version: string,
  args: readonly string[],
  main: string,
  save: (() => void) | undefined,
): Promise<void> {
  return runInProcess(main, (context) => {
    const up = upArguments(version, args, context.env['KUBEWRIGHT_CONTROLLERS'])
    if (up.ignored.length > 0) context.note(`Ignored flags: ${up.ignored.join(' ')}`)
    return serving(apiServerCommand, up.args, context, save)
  })
}

async function serving(
  command: Command,
  args: readonly string[],
  context: CommandContext,
  save: (() => void) | undefined,
): Promise<number> {
  let saving: Timer | undefined
  const onReady = save && (() => (saving = systemClock.setTimer(saveAfter, save, 'save compiled code')))
  try {
    return await runOrHelp(command, args, false, { ...context, onReady })
  } finally {
    saving?.cancel()
    // A program that was not ready has compiled too little.
    if (saving !== undefined) save?.()
  }
}
