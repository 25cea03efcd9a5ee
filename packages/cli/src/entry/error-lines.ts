import { relative } from 'node:path'

/**
 * An error as lines for people: what it says, its causes, and where in the user's code it was made, with paths from the project on.
 * Frames of other code are left out, unless there are no others.
 */
export function errorLines(error: unknown, project: string): string[] {
  const lines: string[] = []
  let place: string[] = []
  for (let depth = 0, each: unknown = error; each !== undefined && depth < 8; depth++) {
    lines.push(...headOf(each, depth === 0 ? '' : 'caused by '))
    // Of an error and its causes, the innermost tells best where it began.
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
  // Compilers, and those who look for modules, say where in their message, and come from somewhere else.
  const isPlaced = /:\d+:\d+\b| imported from /.test(error.message)
  const ofUser = frames.filter((line) => !/node_modules/.test(line))
  const ofProject = ofUser.filter((line) => line.includes(project))
  const telling = [ofProject, ...(isPlaced ? [] : [ofUser, frames])].find((list) => list.length > 0) ?? []
  return telling.slice(0, 5).map((line) => shortened(line.trim(), project))
}

/** With the path of a file as it is seen from the project. */
function shortened(frame: string, project: string): string {
  return frame.replace(/(?:file:\/\/)?(\/[^\s():]+)/, (_, path: string) => {
    const near = relative(project, path)
    return near.startsWith('..') ? path : near
  })
}
