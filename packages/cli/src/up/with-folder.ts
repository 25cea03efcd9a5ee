import { resolve } from 'node:path'
import { folderProblem } from '@kubewright/storage'

/** What is written, where, and what can be chosen instead. */
export interface Written {
  /** Follows "Cannot", with a preposition: `keep objects in`. */
  readonly purpose: string
  readonly path: string
  /** What the user can do about a path that cannot be written to. */
  readonly cure: string
}

/** Does something that writes; where the file system will not have it, the error says so in a sentence with the path and the cure. */
export async function withFolder<T>({ purpose, path, cure }: Written, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const problem = folderProblem(error)
    if (problem === undefined) throw error
    throw new Error(`Cannot ${purpose} ${resolve(path)} as ${problem}: ${cure}`, { cause: error })
  }
}
