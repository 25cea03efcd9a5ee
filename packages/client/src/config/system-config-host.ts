import type { Command, CommandResult, ConfigHost } from './config-host.ts'

/** The {@link ConfigHost} of this machine. Loads modules of Node at first use, as an import of the package should cost little. */
export const systemConfigHost: ConfigHost = {
  get env() {
    return process.env
  },
  get home() {
    return process.getBuiltinModule('node:os').homedir()
  },
  readFile: (path) => process.getBuiltinModule('node:fs/promises').readFile(path, 'utf8'),
  run: ({ command, args, env, signal }: Command) =>
    new Promise<CommandResult>((resolve, reject) => {
      const { execFile } = process.getBuiltinModule('node:child_process')
      const options = { env: { ...process.env, ...env }, maxBuffer: 1024 * 1024, ...(signal ? { signal } : {}) }
      execFile(command, [...args], options, (error, stdout, stderr) => {
        // A numeric code is the program's exit code. Any other error means that it could not be run or was killed.
        if (error && typeof error.code !== 'number') reject(signal?.aborted ? (signal.reason as Error) : error)
        else resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, stdout, stderr })
      })
    }),
}
