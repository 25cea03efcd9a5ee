import { errorText } from '@kubewright/base'

// The folder of the packages in a checkout, or of the installed packages.
const ownFolder = new URL('../../', import.meta.url).pathname
const maxFrames = 6

/**
 * Describes an error by its messages and by the frames of its stack that are in user code, innermost first. Test runners
 * and Node.js (`--enable-source-maps`) have mapped them to the sources already.
 */
export function userStack(error: unknown): string {
  const frames = chain(error).flatMap(userFrames)
  const shown = frames.slice(0, maxFrames).map((frame) => `    ${frame}`)
  return [errorText(error), ...shown].join('\n')
}

/** The error and its causes. The innermost one was thrown first. */
function chain(error: unknown): Error[] {
  const found: Error[] = []
  for (let each = error; each instanceof Error && found.length < 10; each = each.cause) found.unshift(each)
  return found
}

function userFrames({ stack = '' }: Error): string[] {
  const lines = stack.split('\n').map((line) => line.trim())
  return lines.filter((line) => line.startsWith('at ') && !isOwn(line))
}

function isOwn(frame: string): boolean {
  if (/node_modules|\(node:|^at node:|<anonymous>\)?$|^at new Promise/.test(frame)) return true
  return frame.includes(ownFolder) && !/\.test\.ts|\/testdata\//.test(frame)
}
