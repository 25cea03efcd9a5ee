import { type Paint, plain } from './colors.ts'
import { wrapLine } from './wrap-line.ts'

/** The terminal that people look at while a command runs. */
export interface Terminal {
  /** Paints results. */
  readonly paint: Paint
  /** Paints everything else. */
  readonly paintNote: Paint
  /** How wide the terminal is that results go to; undefined when they go elsewhere. */
  readonly columns: number | undefined
  /** One line that tells what is being waited for. Undefined where it could not be taken back. */
  readonly progress: Progress | undefined
}

/** A line that is there while something takes its time. */
export interface Progress {
  /** Shows a text until the next one, or until it is cleared. Lines that are written meanwhile come above it. */
  show(text: string): void
  clear(): void
}

/** Where nobody looks: no colours, and whole lines. */
export const noTerminal: Terminal = Object.freeze({
  paint: plain,
  paintNote: plain,
  columns: undefined,
  progress: undefined,
})

/** The help of a command, which is written for 80 columns, on a terminal that has fewer: texts stay in their column. */
export function fittedHelp(help: string, terminal: Pick<Terminal, 'columns'> = noTerminal): string {
  return help
    .split('\n')
    .map((line) => fitted(line, terminal, /^ +\S.*? {2,}(?=\S)/.exec(line)?.[0].length))
    .join('\n')
}

/** A line of results that is text, wrapped between words where people read it; files and other programs get it whole. */
export function fitted(line: string, { columns }: Pick<Terminal, 'columns'>, hanging?: number): string {
  return columns === undefined ? line : wrapLine(line, columns, hanging)
}
