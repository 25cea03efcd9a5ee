import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type CrdManifest, parseManifests } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'

/**
 * Reads the CustomResourceDefinitions of manifest files. A path names a file, a folder, or files by a pattern with `*` in
 * the file name. Other objects in the files are skipped. Rejects when a path has no definition, because a test would
 * otherwise fail later for a reason that is hard to see.
 */
export async function readCrdFiles(paths: readonly string[]): Promise<readonly CrdManifest[]> {
  const found: CrdManifest[] = []
  for (const path of paths) {
    const files = await filesOf(path)
    const before = found.length
    for (const file of files) {
      const objects = parseManifests(await readFile(file, 'utf8'))
      found.push(...objects.filter(isCrd))
    }
    if (found.length > before) continue
    const where = files.length === 0 ? 'no file matches' : `${files.join(', ')}: no CustomResourceDefinition`
    throw new TypeError(`Cannot install "${path}": ${where}. Paths are relative to ${process.cwd()}`)
  }
  return found
}

async function filesOf(path: string): Promise<readonly string[]> {
  if (basename(path).includes('*')) {
    const pattern = new RegExp(`^${basename(path).split('*').map(escaped).join('.*')}$`)
    return matching(dirname(path), (name) => pattern.test(name))
  }
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return []
  return found.isDirectory() ? matching(path, (name) => /\.(ya?ml|json)$/.test(name)) : [path]
}

async function matching(folder: string, accepts: (name: string) => boolean): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => [])
  return names
    .filter(accepts)
    .sort()
    .map((name) => join(folder, name))
}

const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&')

const isCrd = (value: unknown): value is CrdManifest =>
  isJsonObject(value) && value['kind'] === 'CustomResourceDefinition' && isJsonObject(value['metadata'])
