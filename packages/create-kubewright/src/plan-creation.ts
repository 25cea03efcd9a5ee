import { basename, resolve } from 'node:path'

/** The work of `npm create kubewright`. */
export interface CreatePlan {
  /** The folder of the new project. */
  readonly folder: string
  /** The arguments of `kubewright`, which runs in that folder. */
  readonly args: readonly string[]
  /** The commands to print at the end. */
  readonly next: readonly string[]
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
  const enter = folder === resolve(current) ? [] : [`cd ${/\s/.test(first!) ? JSON.stringify(first) : first}`]
  return {
    folder,
    args: ['init', ...flags],
    next: [...enter, `npx kubewright create api --kind ${suggestKind(folder)} --version v1`],
  }
}

/** A kind for the example: `home-operator` -> `Home`. */
function suggestKind(folder: string): string {
  const words = basename(folder)
    .replace(/-?operator$/i, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => /^[A-Za-z]/.test(word))
  const kind = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return kind === '' ? 'Home' : kind
}
