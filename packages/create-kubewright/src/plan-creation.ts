import { resolve } from 'node:path'

/** The work of `npm create kubewright`. */
export interface CreatePlan {
  /** The folder of the new project. */
  readonly folder: string
  /** The arguments of `kubewright`, which runs in that folder. */
  readonly args: readonly string[]
  /** The command that enters the folder; undefined if it is the current one. */
  readonly enter: string | undefined
}

/**
 * Plans the creation of a project from the arguments of `npm create kubewright [FOLDER] [-- OPTIONS OF kubewright init]`. Without a
 * folder, the project is created in the current one.
 */
export function planCreation(argv: readonly string[], current: string): CreatePlan {
  const [first] = argv
  const isNamed = first !== undefined && !first.startsWith('-')
  const folder = resolve(current, isNamed ? first : '.')
  const flags = isNamed ? argv.slice(1) : argv
  const isHere = folder === resolve(current)
  return {
    folder,
    args: ['init', ...flags],
    enter: isHere ? undefined : `cd ${/\s/.test(first!) ? JSON.stringify(first) : first}`,
  }
}
