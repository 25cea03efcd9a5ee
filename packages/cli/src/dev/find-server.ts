import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { UsageError } from '@kubewright/base'

/**
 * The kubeconfig of a running control plane that the user names by its URL or its kubeconfig. A URL is looked up in the kubeconfigs that
 * control planes wrote to this folder, and in $KUBECONFIG.
 */
export function findServer(given: string, folder: string, env: Readonly<Record<string, string | undefined>>): string {
  if (!/^https?:\/\//.test(given)) {
    const file = resolve(folder, given)
    if (existsSync(file)) return file
    throw new UsageError(`--server must be a URL or a kubeconfig: there is no file ${file}`)
  }
  const own = join(folder, '.kubewright')
  const written = existsSync(own) ? readdirSync(own).filter((name) => name.startsWith('kubeconfig')) : []
  const named = (env['KUBECONFIG'] ?? '').split(':').filter((name) => name !== '')
  const files = [...written.sort().map((name) => join(own, name)), ...named.map((name) => resolve(folder, name))]
  const url = given.replace(/\/+$/, '')
  const line = new RegExp(`^\\s*server: ["']?${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}/?["']?\\s*$`, 'm')
  const found = files.find((file) => existsSync(file) && line.test(readFileSync(file, 'utf8')))
  if (found !== undefined) return found
  throw new UsageError(
    `--server ${url}: no kubeconfig in ${own} or $KUBECONFIG has this server; give the kubeconfig of the server`,
  )
}
