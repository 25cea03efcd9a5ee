import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { TextSource } from '../kustomize/kustomization.ts'
import { withEndsOf, withUnixEnds } from '../text/line-ends.ts'
import { type FilePlan, isChange } from './plan-files.ts'

/**
 * Reads files, and all files of folders, of a project. The keys are paths relative to the project, with `/` between folders. The texts have
 * Unix line ends, so that line ends of git or an editor do not count as changes.
 */
export async function readFolders(project: string, folders: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const folder of folders) {
    for (const file of await filesIn(join(project, folder))) {
      texts.set(relative(project, file).split(sep).join('/'), withUnixEnds(await readFile(file, 'utf8')))
    }
  }
  return texts
}

/** The texts of a project for a build: those of config/ as given, and other files, which kustomizations may use too, from the disk. */
export function projectTexts(project: string, config: ReadonlyMap<string, string>): TextSource {
  return {
    get(path) {
      if (path.startsWith('config/')) return config.get(path)
      try {
        return withUnixEnds(readFileSync(join(project, path), 'utf8'))
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException
        if (['ENOENT', 'EISDIR', 'ENOTDIR'].includes(code)) return undefined
        throw error
      }
    },
  }
}

/** Carries out plans. Existing files keep their line ends. */
export async function writeFiles(project: string, plans: readonly FilePlan[]): Promise<void> {
  for (const plan of plans) {
    if (!isChange(plan)) continue
    const file = join(project, plan.path)
    if (plan.after === undefined) await rm(file)
    else {
      await mkdir(dirname(file), { recursive: true })
      const before = plan.before === undefined ? undefined : await readFile(file, 'utf8')
      await writeFile(file, withEndsOf(before, plan.after))
    }
  }
}

async function filesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') return [folder]
    throw error
  }
}
