import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import type { Command, CommandResult, ConfigHost } from './config-host.ts'

/** The {@link ConfigHost} of this machine. */
export const systemConfigHost: ConfigHost = {
  get env() {
    return process.env
  },
  get home() {
    return homedir()
  },
  readFile: (path) => readFile(path, 'utf8'),
  run: ({ command, args, env, signal }: Command) =>
    new Promise<CommandResult>((resolve, reject) => {
      // Loaded on first use, as few configurations have a command.
      const { execFile } = process.getBuiltinModule('node:child_process')
      const options = { env: { ...process.env, ...env }, maxBuffer: 1024 * 1024, ...(signal ? { signal } : {}) }
      execFile(command, [...args], options, (error, stdout, stderr) => {
        // A numeric code is the program's exit code. Any other error means that it could not be run or was killed.
        if (error && typeof error.code !== 'number') reject(signal?.aborted ? (signal.reason as Error) : error)
        else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
      })
    }),
}
