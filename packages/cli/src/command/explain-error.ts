/** The message of an error, with a fix for common system errors. One line, unless the message has several. */
export function explainError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, path, syscall, port, address } = error as NodeJS.ErrnoException & {
    port?: number | undefined
    address?: string | undefined
  }
  // By name instead of instanceof, because importing the class would slow down the start of every command.
  if (error.name === 'ApiError') return apiError(error as Error & { readonly statusCode?: number | undefined })
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} of ${address} is in use: stop the program that uses it, or choose another port with --port (0 picks one)`
    case 'EACCES':
    case 'EPERM':
      if (port !== undefined)
        return `No permission to listen on port ${port}: choose a port above 1023 with --port (0 picks one)`
      return `No permission to access ${path ?? 'a file'}: choose another path, or change its owner or mode`
    case 'EROFS':
      return `${path ?? 'A file'} is on a read-only file system: choose another path`
    case 'ENOSPC':
      return `No space left on the device${path === undefined ? '' : ` of ${path}`}`
    case 'ENOTDIR':
    case 'EEXIST':
      return `${path ?? 'A path'} is not a folder, or one of its parents is not: choose another path`
    case 'EISDIR':
      return `${path ?? 'A path'} is a folder, not a file: choose another path`
    case 'ENOENT':
      if (syscall === 'mkdir') return `No folder can be created at ${path ?? 'a path'}: choose another path`
      return `${path ?? 'A file'} does not exist`
    default:
      return error.message.trimEnd().replaceAll(/\s*\n/g, '\n  ')
  }
}

/** The message of an API server, with the fix for missing credentials and permissions. */
function apiError({ message, statusCode }: Error & { readonly statusCode?: number | undefined }): string {
  if (statusCode === 401)
    return `${message}: the cluster rejects the credentials of the kubeconfig. Log in again, or select others with --kubeconfig or --context`
  return statusCode === 403 ? `${message}\n  kubewright doctor lists the missing permissions` : message
}
