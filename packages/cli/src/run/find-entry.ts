import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** Where an operator's code is. */
export interface Entry {
  /** The module to load, as an absolute path. */
  readonly file: string
  /** The folder of the project: the nearest one with a package.json, else that of the module. */
  readonly project: string
  /** The module as people would write it. */
  readonly name: string
}

// The program first: it is what runs in production.
const usual = ['src/main', 'src/operator', 'main', 'operator'].flatMap((name) => [`${name}.ts`, `${name}.js`])

/**
 * Finds the module of an operator: the one that is given, a file or a folder of a project; else what `kubewright.operator` in
 * package.json names; else src/main.ts or src/operator.ts. Throws a UsageError that says what was looked for.
 */
export async function findEntry(given: string | undefined, folder: string): Promise<Entry> {
  const start = resolve(folder, given ?? '.')
  const kind = await kindOf(start)
  if (kind === undefined) throw new UsageError(`${given} does not exist: name the module of the operator`)
  if (kind === 'file') return entryOf(start, folder)
  const project = (await projectOf(start)) ?? start
  // Only the folder itself may be a project: the package.json of one above is about something else.
  const named = project === start ? await namedIn(join(project, 'package.json')) : undefined
  for (const candidate of named === undefined ? usual : [named]) {
    const file = resolve(start, candidate)
    if ((await kindOf(file)) === 'file') return entryOf(file, folder)
  }
  if (named !== undefined) {
    throw new UsageError(`${join(project, 'package.json')}: "kubewright.operator" names ${named}, which does not exist`)
  }
  throw new UsageError(
    `no operator found in ${start}: name its module, or "kubewright": { "operator": "..." } in package.json (looked for ${usual.join(', ')})`,
  )
}

async function entryOf(file: string, folder: string): Promise<Entry> {
  return { file, project: (await projectOf(dirname(file))) ?? dirname(file), name: relative(folder, file) || file }
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file'
  } catch {
    return undefined
  }
}

async function projectOf(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await kindOf(join(at, 'package.json'))) === 'file') return at
    if (dirname(at) === at) return undefined
  }
}

async function namedIn(file: string): Promise<string | undefined> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch {
    return undefined
  }
  try {
    const named: unknown = (JSON.parse(text) as { kubewright?: { operator?: unknown } }).kubewright?.operator
    return typeof named === 'string' ? named : undefined
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
}
