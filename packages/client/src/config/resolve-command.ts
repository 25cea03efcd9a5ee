import { dirname, isAbsolute, resolve } from 'node:path'

/** The path of a plugin. A plain name is searched in PATH; a relative path is relative to the kubeconfig file. */
export function resolveCommand(command: string, file: string): string {
  const isPlainName = !command.includes('/') && !command.includes('\\')
  return isPlainName || isAbsolute(command) ? command : resolve(dirname(file), command)
}
