import { relative } from 'node:path'
import { UsageError } from '@kubewright/base'

/**
 * Refuses to watch the home directory or a folder that contains it, such as the root. That would exhaust the watches of the system, and
 * reload the operator whenever any program writes a file. The first folder is the project, the others come from `--watch`.
 */
export function checkWatched(folders: readonly string[], home: string): void {
  for (const [index, folder] of folders.entries()) {
    const path = relative(folder, home)
    if (path === '..' || path.startsWith('../') || path.startsWith('..\\')) continue
    const what = path === '' ? 'it is the home directory' : 'it contains the home directory'
    const fix = index === 0 ? 'move the operator to a folder of its own, with a package.json' : 'name a smaller folder'
    throw new UsageError(`${index === 0 ? '' : '--watch: '}cannot watch ${folder} because ${what}: ${fix}`)
  }
}
