/**
 * Why the system would not have something written in a folder, to be continued after "as"; undefined for errors that are about something
 * else. Errors that were wrapped are recognised by their cause.
 */
export function folderProblem(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const { code = '' } = error as NodeJS.ErrnoException
  const reason = reasons.get(code)
  return reason === undefined ? folderProblem(error.cause) : `${reason} (${code})`
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'there is no permission to write to it'],
  ['EPERM', 'there is no permission to write to it'],
  ['EROFS', 'its file system is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['ENOTDIR', 'a part of the path is a file'],
  ['EEXIST', 'it is not a folder'],
  ['EISDIR', 'a folder is where a file has to be'],
  ['ENOENT', 'no folder can be made there'],
  ['ENAMETOOLONG', 'the path is too long'],
  ['ELOOP', 'links on the way go in circles'],
])
