// Imports nothing but Node's modules, because it runs before the program.
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The folder of this program in the cache folder of the user. Throws if the user has no home folder. */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, platform: NodeJS.Platform): string {
  const own = (): string => {
    if (platform === 'darwin') return join(homedir(), 'Library', 'Caches')
    if (platform === 'win32') return env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local')
    return env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  }
  return join(own(), 'kubewright')
}
