/** What a program said. */
export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A program to run. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
  /** Added to the environment of this process. */
  readonly env: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** What configuration needs of the machine. */
export interface ConfigHost {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user's folder. */
  readonly home: string
  /** Rejects with an error of code `ENOENT` when there is no such file. */
  readFile(path: string): Promise<string>
  /** Rejects when the program cannot be started. */
  run(command: Command): Promise<CommandResult>
}
