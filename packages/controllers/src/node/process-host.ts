/** A program that a container runs for real. */
export interface ProcessSpec {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly workingDir?: string
  /** Is told each line that it writes. */
  readonly onLine: (line: string) => void
}

/** A program that was started. */
export interface RunningProcess {
  /** Resolves to its exit code when it has ended; 128 plus the number of the signal that ended it. Never rejects. */
  readonly exited: Promise<number>
  /** Asks it to end, and makes it end when the time is over. */
  stop(graceMillis: number): void
}

/** Starts real programs for pods that ask for it. Given by whoever runs the nodes: this package does no I/O itself. */
export interface ProcessHost {
  start(spec: ProcessSpec): RunningProcess
}
