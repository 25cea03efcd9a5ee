import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '@kubewright/base'
import type { CommandContext } from './command/command-context.ts'
import { systemInteraction } from './terminal/interaction.ts'
import { interruptedCode } from './terminal/interrupted-error.ts'
import { systemTerminal } from './terminal/system-terminal.ts'

/** The context of a command in this process. */
export interface SystemContext extends CommandContext {
  /** Exits with the code of the signal that interrupted the command. */
  exitInterrupted(): never
}

/**
 * The context of this process: its streams, its environment and its signals. SIGINT and SIGTERM abort the signal of the context; a second
 * one exits at once. `main` is the URL of the program, beside which the other programs of the package lie.
 */
export function systemContext(main: string): SystemContext {
  const { stdout, stderr, env } = process
  const { eraseKey, ...screen } = systemTerminal({ stdout, stderr, env, clock: systemClock })
  const stop = new AbortController()
  const signalCodes = { SIGINT: interruptedCode, SIGTERM: 143 } as const
  let stoppedBy: keyof typeof signalCodes = 'SIGINT'
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (name === 'SIGINT') eraseKey()
      if (stop.signal.aborted) process.exit(signalCodes[name])
      stoppedBy = name
      stop.abort()
    })
  }
  // A reader such as `head` may close the pipe early. The command still finishes, and its exit code reports the result.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
  const file = fileURLToPath(main)
  const beside = (program: string): string[] => [
    process.execPath,
    ...process.execArgv.filter(isForChild),
    fileURLToPath(new URL(`./${program}${extname(file)}`, main)),
  ]
  const interaction = systemInteraction(env, stop.signal)
  return {
    ...screen,
    env,
    clock: systemClock,
    // The monotonic time of the system clock counts from the start of the process.
    startedAt: 0,
    ...(interaction === undefined ? {} : { interaction }),
    operatorProgram: beside('operator-main'),
    envtestProgram: beside('envtest-main'),
    signal: stop.signal,
    exitInterrupted: () => process.exit(signalCodes[stoppedBy]),
  }
}

// A debugger of this process holds its port; `dev --inspect` opens one in the operator process.
function isForChild(option: string): boolean {
  return !option.startsWith('--inspect')
}
