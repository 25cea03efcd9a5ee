import { readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { errorText, UsageError } from '@kubewright/base'

/** The location of an operator's code. */
export interface Entry {
  /** The module to load, as an absolute path. */
  readonly file: string
  /** The folder of the project. */
  readonly project: string
  /** The module, relative to the current folder. */
  readonly name: string
}

// The program first, because it is what runs in production.
const candidates = ['src/main', 'src/operator', 'main', 'operator'].flatMap((name) => [`${name}.ts`, `${name}.js`])
const programs = candidates.filter((name) => name.includes('main'))

/**
 * Finds the module of an operator. `given` is a module or the folder of a project. In a folder, `kubewright.operator` in package.json names
 * the module; otherwise it is src/main.ts or src/operator.ts. Throws a UsageError that lists the candidates. The home directory is never
 * a project, although many users have a package.json there by accident.
 */
export function findEntry(given: string | undefined, folder: string, home: string = homedir()): Promise<Entry> {
  return find(given, folder, home, [])
}

/**
 * Finds the module that runs an operator: like {@link findEntry}, but in a folder src/main.ts comes before
 * `kubewright.operator` of package.json, so that everything the program does takes effect. Commands that only describe
 * the operator use `findEntry`, because a program may need a cluster or other services.
 */
export function findProgram(given: string | undefined, folder: string, home: string = homedir()): Promise<Entry> {
  return find(given, folder, home, programs)
}

async function find(given: string | undefined, folder: string, home: string, first: readonly string[]): Promise<Entry> {
  const start = resolve(folder, given ?? '.')
  const kind = await kindOf(start)
  if (kind === undefined) throw new UsageError(`${given} does not exist: name the module of the operator`)
  const shown = (file: string): string => relative(folder, file) || file
  if (kind === 'file') return { file: start, project: await projectOf(start, home), name: shown(start) }
  const manifest = await manifestIn(start)
  const named = manifest?.kubewright?.operator
  for (const candidate of [...first, ...(named === undefined ? candidates : [named])]) {
    const file = resolve(start, candidate)
    if ((await kindOf(file)) === 'file') return { file, project: start, name: shown(file) }
  }
  if (named !== undefined) {
    throw new UsageError(
      `${join(start, 'package.json')}: "kubewright.operator" names ${named}, which does not exist: correct the path`,
    )
  }
  throw new UsageError(
    `no operator found in ${start}: go to the folder of its project, name its module, or create a project with kubewright init (looked for ${candidates.join(', ')}, and "kubewright": { "operator": FILE } in package.json)`,
  )
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file'
  } catch {
    return undefined
  }
}

/** The nearest folder with a package.json. If that is the root of a monorepo, the parent of src, or the folder of the module. */
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
  readonly kubewright?: { readonly operator?: string | undefined } | undefined
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
    throw new UsageError(`${file} is not valid JSON: ${errorText(error)}`)
  }
}
