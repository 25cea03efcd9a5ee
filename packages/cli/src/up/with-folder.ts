import { resolve } from 'node:path'
import { KubewrightError } from '@kubewright/base'
import { folderProblem } from '@kubewright/storage'

/** A path that is written to, for error messages. */
export interface Written {
  /** Follows "Cannot": `keep objects in`. */
  readonly purpose: string
  readonly path: string
  /** The fix for a path that is not writable. */
  readonly fix: string
}

/** Runs a function that writes. An error of the file system becomes one with the path, the problem and the fix. */
export async function withFolder<T>({ purpose, path, fix }: Written, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const problem = folderProblem(error)
    if (problem === undefined) throw error
    throw new KubewrightError('KW_COMMAND', `Cannot ${purpose} ${resolve(path)} because ${problem}: ${fix}`, {
      cause: error,
    })
  }
}
