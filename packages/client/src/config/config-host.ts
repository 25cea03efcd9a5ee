/** The result of a program. */
export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A program to run. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
  /** Variables added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** The access to the machine that loading a configuration needs. */
export interface ConfigHost {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's home folder. */
  readonly home: string
  /** Rejects with an error of code `ENOENT` when the file does not exist. */
  readFile(path: string): Promise<string>
  /** Rejects when the program cannot be started. */
  run(command: Command): Promise<CommandResult>
}
