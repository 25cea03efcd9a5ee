import type { ConfigFile } from '../config/config-file.ts'
import { type FollowFileParts, followFile } from './follow-file.ts'

/**
 * Applies each valid change of a configuration file. Ignores contents that are not valid, and retries those that could not be applied. `name`
 * is what the log calls the configuration.
 */
export function followConfig<T>(
  name: string,
  file: ConfigFile<T>,
  apply: (config: T) => void | Promise<void>,
  parts: FollowFileParts,
): AsyncDisposable {
  const { log } = parts
  const { path } = file
  const changed = async (text: string): Promise<'done' | 'retry'> => {
    let config: T
    try {
      config = await file.parse(text)
    } catch (error) {
      log.error(error, `Ignored a change of the ${name} configuration: it is not valid`, { file: path })
      return 'done'
    }
    try {
      await apply(config)
    } catch (error) {
      log.error(error, `Could not apply the new ${name} configuration; retrying`, { file: path })
      return 'retry'
    }
    log.info(`Reloaded the ${name} configuration`, { file: path })
    return 'done'
  }
  return followFile(path, file.text, changed, parts)
}
