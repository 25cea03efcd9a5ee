import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { errorText, UsageError } from '@kubewright/base'

/** Where an operator's code is. */
export interface Entry {
  /** The module to load, as an absolute path. */
  readonly file: string
  /** The folder of the project, whose code is watched. */
  readonly project: string
  /** The module as people would write it. */
  readonly name: string
}

// The program first: it is what runs in production.
const usual = ['src/main', 'src/operator', 'main', 'operator'].flatMap((name) => [`${name}.ts`, `${name}.js`])

/**
 * Finds the module of an operator: the one that is given, a file or a folder of a project; else what `kubewright.operator` in
 * package.json names; else src/main.ts or src/operator.ts. Throws a UsageError that says what was looked for. A package.json in the home
 * directory, which many have by accident, does not make that a project.
 */
export async function findEntry(given: string | undefined, folder: string, home: string = homedir()): Promise<Entry> {
  const start = resolve(folder, given ?? '.')
  const kind = await kindOf(start)
  if (kind === undefined) throw new UsageError(`${given} does not exist: name the module of the operator`)
  const shown = (file: string): string => relative(folder, file) || file
  if (kind === 'file') return { file: start, project: await projectOf(start, home), name: shown(start) }
  const manifest = await manifestIn(start)
  const named = manifest?.kubewright?.operator
  for (const candidate of named === undefined ? usual : [named]) {
    const file = resolve(start, candidate)
    if ((await kindOf(file)) === 'file') return { file, project: start, name: shown(file) }
  }
  if (named !== undefined) {
    throw new UsageError(`${join(start, 'package.json')}: "kubewright.operator" names ${named}, which does not exist`)
  }
  throw new UsageError(
    `no operator found in ${start}: go to its project, name its module, or start a project with kubewright init (looked for ${usual.join(', ')}, and "kubewright": { "operator": FILE } in package.json)`,
  )
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file'
  } catch {
    return undefined
  }
}

/** The nearest folder with a package.json, unless that is of a whole monorepo; then the one above src, or that of the module. */
async function projectOf(file: string, home: string): Promise<string> {
  const own = dirname(file)
  for (let at = own; dirname(at) !== at && at !== home; at = dirname(at)) {
    const manifest = await manifestIn(at)
    if (manifest === undefined) continue
    if (manifest.workspaces === undefined || at === own) return at
    break
  }
  return basename(own) === 'src' ? dirname(own) : own
}

interface Manifest {
  readonly kubewright?: { readonly operator?: string }
  readonly workspaces?: unknown
}

async function manifestIn(folder: string): Promise<Manifest | undefined> {
  const file = join(folder, 'package.json')
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return undefined
  }
  try {
    return JSON.parse(text) as Manifest
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${errorText(error)}`)
  }
}
