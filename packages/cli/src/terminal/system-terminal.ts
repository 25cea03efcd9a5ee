import { type Clock, wantsColors } from '@kubewright/base'
import { painted, plain } from './colors.ts'
import { erase, ProgressLine, type ScreenStream } from './progress-line.ts'
import { safeText } from './safe-text.ts'
import type { Terminal } from './terminal.ts'
import { wrapLine } from './wrap-line.ts'

/** An output stream of a process, possibly a terminal. */
export interface OutputStream extends ScreenStream {
  readonly isTTY?: boolean | undefined
}

/** The streams of {@link systemTerminal}. */
export interface SystemTerminalOptions {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/**
 * Writes the output of commands: results to the standard output, all other lines to the standard error, wrapped between words on a
 * terminal. Escapes control characters other than line ends, tabs and colours in both, because lines contain text of manifests, clusters
 * and servers.
 */
export function systemTerminal({ stdout, stderr, env, clock }: SystemTerminalOptions): {
  out(line: string): void
  note(line: string): void
  /** Erases the ^C that the terminal shows, so that the next line begins in the first column. */
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
      stdout.write(`${safeText(line)}\n`)
    },
    note: (line) => {
      progress?.erase()
      stderr.write(`${wrapped(safeText(line))}\n`)
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
