/**
 * The reason why a folder cannot be written to, worded to follow "as"; undefined for unrelated errors. Also recognises
 * the cause of a wrapped error.
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
  ['EISDIR', 'there is a folder in the place of a file'],
  ['ENOENT', 'no folder can be created there'],
  ['ENAMETOOLONG', 'the path is too long'],
  ['ELOOP', 'the path has a cycle of symbolic links'],
])
