import { type Paint, plain } from './colors.ts'
import { wrapLine } from './wrap-line.ts'

/** The terminal that a command writes to. */
export interface Terminal {
  /** Colours text of the result. */
  readonly paint: Paint
  /** Colours text of hints, warnings and errors. */
  readonly paintNote: Paint
  /** The width of the terminal that the result goes to; undefined if it goes to a file or another program. */
  readonly columns: number | undefined
  /** A line that shows what the command waits for. Undefined if the terminal cannot redraw it. */
  readonly progress: Progress | undefined
}

/** A line that is shown while the command waits. */
export interface Progress {
  /** Shows a text until the next call or {@link clear}. Lines that are written meanwhile appear above it. */
  show(text: string): void
  clear(): void
}

/** No terminal: no colours and no wrapping. */
export const noTerminal: Terminal = Object.freeze({
  paint: plain,
  paintNote: plain,
  columns: undefined,
  progress: undefined,
})

/** A line of the result, wrapped between words on a terminal. Files and other programs get it whole. */
export function fitted(line: string, { columns }: Pick<Terminal, 'columns'>, hanging?: number): string {
  return columns === undefined ? line : wrapLine(line, columns, hanging)
}
