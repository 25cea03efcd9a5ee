import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline/promises'

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

/** The machine itself: the current folder, and the terminal if there is one. */
export function systemScaffoldHost(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): ScaffoldHost {
  const folder = process.cwd()
  return {
    folder,
    hasColors: process.stdout.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb',
    isInteractive: process.stdin.isTTY && process.stderr.isTTY && !env['CI'],
    async ask(question) {
      // Answers are no results: a script may still want to read those.
      const lines = createInterface({ input: process.stdin, output: process.stderr })
      // Ctrl-C and the end of the input close it without an answer.
      const closed = new Promise<never>((_, reject) => {
        lines.once('close', () => reject(new Error('stopped at a question, so nothing was written')))
      })
      const answer = lines.question(question, { signal })
      try {
        return await Promise.race([answer, closed])
      } catch (error) {
        process.stderr.write('\n')
        answer.catch(() => undefined)
        throw error
      } finally {
        closed.catch(() => undefined)
        lines.close()
      }
    },
    run: (program, args) =>
      new Promise((resolve, reject) => {
        const child = spawn(program, args, { cwd: folder, stdio: 'inherit' })
        child.on('error', reject)
        child.on('exit', (code) => resolve(code ?? 1))
      }),
  }
}
