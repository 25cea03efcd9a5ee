import { type Clock, wantsColors } from '@kubewright/base'
import { painted, plain } from './colors.ts'
import { erase, ProgressLine, type ScreenStream } from './progress-line.ts'
import type { Terminal } from './terminal.ts'
import { wrapLine } from './wrap-line.ts'

/** A stream of a process, which may be a terminal. */
export interface OutputStream extends ScreenStream {
  readonly isTTY?: boolean
}

/** What {@link systemTerminal} writes to. */
export interface SystemTerminalOptions {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/**
 * Writes what commands say: results to the standard output as they are, everything else to the standard error, there wrapped between
 * words if that is a terminal.
 */
export function systemTerminal({ stdout, stderr, env, clock }: SystemTerminalOptions): {
  out(line: string): void
  note(line: string): void
  /** Takes back what the terminal shows of Ctrl-C, so that the next line begins where lines begin. */
  eraseKey(): void
  readonly terminal: Terminal
} {
  const canRedraw = stderr.isTTY === true && env['TERM'] !== 'dumb' && !env['CI']
  const progress = canRedraw ? new ProgressLine(stderr, clock) : undefined
  const wrapped = (text: string): string => {
    const { isTTY, columns } = stderr
    if (!isTTY || !columns) return text
    return text
      .split('\n')
      .map((line) => wrapLine(line, columns))
      .join('\n')
  }
  return {
    out: (line) => {
      progress?.erase()
      stdout.write(`${line}\n`)
    },
    note: (line) => {
      progress?.erase()
      stderr.write(`${wrapped(line)}\n`)
    },
    eraseKey: () => {
      if (canRedraw) stderr.write(erase)
    },
    terminal: {
      paint: wantsColors(stdout, env) ? painted : plain,
      paintNote: wantsColors(stderr, env) ? painted : plain,
      get columns() {
        return stdout.isTTY ? stdout.columns : undefined
      },
      progress,
    },
  }
}
