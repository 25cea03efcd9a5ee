import { resolve } from 'node:path'
import { KubewrightError } from '@kubewright/base'
import { folderProblem } from '@kubewright/storage'

const purposes = { objects: 'keep objects in', keys: 'keep its keys in' } as const

/** A folder that a control plane must write to cannot be used. */
export class FolderError extends KubewrightError {
  /** What the folder is for. */
  readonly holds: keyof typeof purposes

  constructor(holds: keyof typeof purposes, folder: string, problem: string, cause: unknown) {
    super('KW_PLANE_FOLDER', `Cannot ${purposes[holds]} ${resolve(folder)} because ${problem}`, { cause })
    this.holds = holds
  }
}

/** Runs a function that writes to a folder. An error of the file system becomes a {@link FolderError}. */
export async function withFolder<T>(holds: FolderError['holds'], folder: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const problem = folderProblem(error)
    if (problem === undefined) throw error
    throw new FolderError(holds, folder, problem, error)
  }
}
