import { relative } from 'node:path'

/**
 * An error as lines: its message, its causes, and the stack frames of the user's code, with paths relative to the project. Frames of other
 * code are shown only if there are no frames of the user.
 */
export function errorLines(error: unknown, project: string): string[] {
  const lines: string[] = []
  let place: string[] = []
  for (let depth = 0, each: unknown = error; each !== undefined && depth < 8; depth++) {
    lines.push(...headOf(each, depth === 0 ? '' : 'caused by '))
    // The frames of the innermost cause are closest to the origin.
    const frames = framesOf(each, project)
    if (frames.length > 0) place = frames
    each = each instanceof Error ? each.cause : undefined
  }
  return [...lines, ...place.map((frame) => `  ${frame}`)]
}

function headOf(error: unknown, prefix: string): string[] {
  if (!(error instanceof Error)) return [`${prefix}${String(error)}`]
  const [first = '', ...rest] = error.message.split('\n')
  const name = error.name === 'Error' ? '' : `${error.name}: `
  return [`${prefix}${name}${first}`, ...rest]
}

function framesOf(error: unknown, project: string): string[] {
  if (!(error instanceof Error) || error.stack === undefined) return []
  const frames = error.stack.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('node:'))
  // Errors of compilers and of module resolution name the place in their message; their frames are not of interest.
  const isPlaced = /:\d+:\d+\b| imported from /.test(error.message)
  const ofUser = frames.filter((line) => !/node_modules/.test(line))
  const ofProject = ofUser.filter((line) => line.includes(project))
  const shown = [ofProject, ...(isPlaced ? [] : [ofUser, frames])].find((list) => list.length > 0) ?? []
  return shown.slice(0, 5).map((line) => shortened(line.trim(), project))
}

/** A stack frame with a path relative to the project. */
function shortened(frame: string, project: string): string {
  return frame.replace(/(?:file:\/\/)?(\/[^\s():]+)/, (_, path: string) => {
    const near = relative(project, path)
    return near.startsWith('..') ? path : near
  })
}
