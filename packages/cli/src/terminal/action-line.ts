import type { Color, Paint } from './colors.ts'

/** What became of a file. */
export type FileAction = 'created' | 'updated' | 'merged' | 'offered' | 'kept' | 'unchanged' | 'removed'

const colors: Readonly<Record<FileAction, Color>> = {
  created: 'green',
  updated: 'yellow',
  merged: 'yellow',
  offered: 'cyan',
  kept: 'grey',
  unchanged: 'grey',
  removed: 'red',
}

const width = 9

/** Tells what became of a file: all commands that write files say it like this. */
export function actionLine(action: FileAction, text: string, paint: Paint): string {
  return `${paint(colors[action], action)}${' '.repeat(width - action.length)} ${text}`
}
