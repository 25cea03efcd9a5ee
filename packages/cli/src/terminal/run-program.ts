import { spawn } from 'node:child_process'
import { KubewrightError } from '@kubewright/base'
import { InterruptedError } from './interrupted-error.ts'

/** Runs a program in a folder with the terminal of this process. Resolves to its exit code; rejects if it cannot be started. */
export function runProgram(folder: string, program: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: 'inherit' })
    child.on('error', (error: NodeJS.ErrnoException) => {
      const isMissing = error.code === 'ENOENT'
      reject(
        isMissing ? new KubewrightError('KW_COMMAND', `${program} is not found: install it, or add it to PATH`) : error,
      )
    })
    child.on('exit', (code, by) => (by === 'SIGINT' ? reject(new InterruptedError()) : resolve(code ?? 1)))
  })
}
