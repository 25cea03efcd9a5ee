import { relative } from 'node:path'
import { UsageError } from '../usage-error.ts'

/**
 * Refuses to watch what cannot be a project: the home directory, or a folder that it lies in, such as the root. Watching that would take all
 * of the system's watches, and reload with every file that any program writes.
 */
export function checkWatched(folders: readonly string[], home: string): void {
  for (const [index, folder] of folders.entries()) {
    const way = relative(folder, home)
    if (way === '..' || way.startsWith('../') || way.startsWith('..\\')) continue
    const what = way === '' ? 'the home directory' : 'a folder that the home directory is in'
    const cure = index === 0 ? 'move the operator to a folder of its own, with a package.json' : 'name smaller folders'
    throw new UsageError(`${index === 0 ? '' : '--watch: '}will not watch ${folder}, ${what}: ${cure}`)
  }
}
