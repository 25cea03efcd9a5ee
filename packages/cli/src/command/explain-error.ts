/** What went wrong, with the cure where there is one: one line, unless there is more to see. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path, syscall, port, address } = error as NodeJS.ErrnoException & { port?: number; address?: string }
  // By its form, as everything that it needs would be loaded for every command.
  if (error.name === 'ApiError') return refusal(error as Error & { readonly statusCode?: number })
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${address} is in use: stop the program that has it, or choose another one with --port (0 picks one)`
    case 'EACCES':
    case 'EPERM':
      if (port !== undefined)
        return `No permission to listen on port ${port}: choose one above 1023 with --port (0 picks one)`
      return `No permission to use ${path ?? 'a file'}: choose a place that you may write to, or change its owner or mode`
    case 'EROFS':
      return `${path ?? 'A file'} is on a file system that cannot be written to: choose another place`
    case 'ENOSPC':
      return `No space left on the device${path === undefined ? '' : ` of ${path}`}`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path ?? 'A path'} is not a folder, or goes through something that is none: choose another place`
    case 'EISDIR':
      return `${path ?? 'A path'} is a folder where a file is wanted: choose another name`
    case 'ENOENT':
      if (syscall === 'mkdir') return `No folder can be made at ${path ?? 'a path'}: choose another place`
      return `${path ?? 'A file'} does not exist`
    default:
      return error.message.trimEnd().replaceAll(/\s*\n/g, '\n  ')
  }
}

/** What an API server said, in its words, and what to do about it where it does not say so. */
function refusal({ message, statusCode }: Error & { readonly statusCode?: number }): string {
  if (statusCode === 401)
    return `${message}: the cluster does not accept the credentials of the kubeconfig. Log in again, or choose others with --kubeconfig or --context`
  return statusCode === 403 ? `${message}\n  kubewright doctor tells which permissions are missing` : message
}
