/** A program that a container runs as a real process. */
export interface ProcessSpec {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly workingDir?: string | undefined
  /** Called with each line of output. */
  readonly onLine: (line: string) => void
}

/** A started program. */
export interface RunningProcess {
  /** Resolves to the exit code, or to 128 plus the signal number. Never rejects. */
  readonly exited: Promise<number>
  /** Sends SIGTERM, and SIGKILL when the grace period is over. */
  stop(graceMillis: number): void
}

/** Starts real processes for pods that request them. The caller provides the host, because this module does no I/O. */
export interface ProcessHost {
  start(spec: ProcessSpec): RunningProcess
}
