import { spawn } from 'node:child_process'
import { wantsColors } from '@kubewright/base'
import { InterruptedError } from '../terminal/interrupted-error.ts'
import { Prompt } from '../terminal/prompt.ts'

/** What the commands of the scaffold have of the machine; tests bring their own. */
export interface ScaffoldHost {
  /** The project's folder. */
  readonly folder: string
  /** Whether there is somebody to ask. */
  readonly isInteractive: boolean
  /** Whether results are shown in colours. */
  readonly hasColors: boolean
  /** Asks one question; resolves with the answer, empty when there is none. */
  ask(question: string): Promise<string>
  /** Runs a program in the folder with its output shown; resolves with its exit code. */
  run(program: string, args: readonly string[]): Promise<number>
}

// One for the process: answers that come early are kept for the questions to come.
let prompt: Prompt | undefined

/** The machine itself: the current folder, and the terminal if there is one. */
export function systemScaffoldHost(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): ScaffoldHost {
  const folder = process.cwd()
  return {
    folder,
    hasColors: wantsColors(process.stdout, env),
    isInteractive: process.stdin.isTTY && process.stderr.isTTY && !env['CI'],
    ask(question) {
      // Answers are no results: a script may still want to read those.
      prompt ??= new Prompt({ input: process.stdin, output: process.stderr })
      return prompt.ask(question, signal)
    },
    run: (program, args) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, { cwd: folder, stdio: 'inherit' })
        child.on('error', (error: NodeJS.ErrnoException) => {
          const isMissing = error.code === 'ENOENT'
          reject(isMissing ? new Error(`${program} is not found: install it, or add it to PATH`) : error)
        })
        child.on('exit', (code, by) => (by === 'SIGINT' ? reject(new InterruptedError()) : resolve(code ?? 1)))
      }),
  }
}
