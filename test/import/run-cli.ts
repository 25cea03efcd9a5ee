import { systemClock } from '@kubewright/base'
import { runCommand } from '@kubewright/cli'

/** The exit code and the output of a command. */
export interface CliResult {
  readonly code: number
  readonly out: string
  readonly notes: string
}

/** Runs a command in this process. */
export async function runCli(args: readonly string[], env: Record<string, string> = {}): Promise<CliResult> {
  const out: string[] = []
  const notes: string[] = []
  const code = await runCommand(args, {
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
    env,
    clock: systemClock,
    startedAt: 0,
    signal: new AbortController().signal,
  })
  return { code, out: out.join('\n'), notes: notes.join('\n') }
}
