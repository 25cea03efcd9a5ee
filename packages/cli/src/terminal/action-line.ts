import type { Color, Paint } from './colors.ts'

/** The effect of a command on a file. */
export type FileAction =
  | 'created'
  | 'updated'
  | 'merged'
  | 'proposed'
  | 'kept'
  | 'unchanged'
  | 'removed'
  | 'replaced'
  | 'conflict'

const colors: Readonly<Record<FileAction, Color>> = {
  created: 'green',
  updated: 'yellow',
  merged: 'yellow',
  proposed: 'cyan',
  kept: 'grey',
  unchanged: 'grey',
  removed: 'red',
  replaced: 'red',
  conflict: 'red',
}

const width = 9

/** A line that reports the effect on a file, in the layout of all commands that write files. */
export function actionLine(action: FileAction, text: string, paint: Paint): string {
  return `${paint(colors[action], action)}${' '.repeat(width - action.length)} ${text}`
}
