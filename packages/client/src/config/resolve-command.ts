import { dirname, isAbsolute, resolve } from 'node:path'

/** Where a plugin is: a plain name is looked for in PATH, a relative path is relative to the file that names it. */
export function resolveCommand(command: string, file: string): string {
  const isPlainName = !command.includes('/') && !command.includes('\\')
  return isPlainName || isAbsolute(command) ? command : resolve(dirname(file), command)
}
