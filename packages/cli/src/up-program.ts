import { systemClock, type Timer } from '@kubewright/base'
import type { CommandContext } from './command/command-context.ts'
import { runOrHelp } from './command/run-or-help.ts'
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
  return runInProcess(main, async (context) => {
    let saving: Timer | undefined
    const onReady = save && (() => (saving = systemClock.setTimer(saveAfter, save, 'save compiled code')))
    try {
      return await runOrHelp(upCommand, args, false, { ...context, onReady, importConsole })
    } finally {
      saving?.cancel()
      // A program that was not ready has compiled too little.
      if (saving !== undefined) save?.()
    }
  })
}
