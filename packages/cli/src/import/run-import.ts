import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CrdManifest } from '@kubewright/api'
import { CaughtError, KubewrightError, UsageError } from '@kubewright/base'
import { type ClusterChoice, connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { crdsIn, type UnusableCrd, unusableCrdsIn } from '../input/crds-in.ts'
import { type ManifestDocument, noteInput, readManifests } from '../input/read-manifests.ts'
import { actionLine } from '../terminal/action-line.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { withEndsOf, withUnixEnds } from '../text/line-ends.ts'
import { oneLine } from '../text/one-line.ts'
import { builtinNamed, clusterCrds } from './cluster-crds.ts'
import type { importArguments, importFlags } from './import-command.ts'
import { type ImportedKind, importCrd } from './import-crd.ts'

interface Written extends ImportedKind {
  readonly file: string
  readonly change: 'created' | 'updated' | 'unchanged'
}

/** Writes a TypeScript module for each CRD of the given files, or of a cluster. */
export async function runImport(
  { flags, args: { names } }: CommandInput<typeof importFlags, typeof importArguments>,
  context: CommandContext,
): Promise<number> {
  if (!flags.cluster && names.length === 0)
    throw new UsageError('FILE is missing: name files or folders with CRDs, or import from a cluster with --cluster')
  if (!flags.cluster) noteInput(names, context.note)
  const documents = flags.cluster ? [] : await readManifests(names)
  const crds = flags.cluster ? await fromCluster(names, flags, context) : crdsIn(documents)
  // A file that cannot be parsed does not prevent the import of the others.
  const failures = [...unreadable(documents), ...unusableCrdsIn(documents)]
  if (crds.length === 0 && failures.length === 0) {
    const where = flags.cluster ? 'the cluster' : names.join(' ')
    const builtin = flags.cluster ? builtinNamed(names) : []
    if (builtin.length > 0)
      throw new KubewrightError(
        'KW_COMMAND',
        `Nothing to import: kubewright/k8s exports ${builtin.join(', ')} with types`,
      )
    const what = 'CustomResourceDefinition of apiextensions.k8s.io/v1'
    const isNamed = flags.cluster && names.length > 0
    throw new KubewrightError(
      'KW_COMMAND',
      isNamed ? `The cluster has no ${what} named ${names.join(' or ')}` : `There is no ${what} in ${where}`,
    )
  }
  const written: Written[] = []
  for (const crd of crds) {
    try {
      const imported = importCrd(crd, { versions: flags.versions, descriptions: flags.descriptions })
      written.push(await write(imported, join(flags.out, imported.path), flags))
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError || error instanceof NotImportedError)) throw error
      failures.push({ name: crd.metadata.name, reason: error.message })
    }
  }
  if (flags.output === 'json') {
    const kinds = written.map(({ text: _, path: __, ...rest }) => rest)
    context.out(jsonText({ dryRun: flags['dry-run'], kinds, failures }, 2))
  } else print(written, failures, flags, context)
  return failures.length > 0 ? 1 : 0
}

async function fromCluster(
  names: readonly string[],
  choice: ClusterChoice,
  context: CommandContext,
): Promise<CrdManifest[]> {
  const client = await connectCluster(choice, context)
  try {
    return await clusterCrds(client, context.signal, names)
  } finally {
    await client[Symbol.asyncDispose]()
  }
}

function unreadable(documents: readonly ManifestDocument[]): UnusableCrd[] {
  return documents.flatMap(({ file, line, text, problem }) => {
    if (problem === undefined) return []
    const fix = text.includes('{{') ? '; if it is a Helm template, import the output of helm template' : ''
    return [{ name: `${file}:${line}`, reason: `${problem}${fix}` }]
  })
}

class NotImportedError extends CaughtError {}

async function write(
  imported: ImportedKind,
  file: string,
  { force, 'dry-run': dryRun }: { readonly force: boolean; readonly 'dry-run': boolean },
): Promise<Written> {
  const before = await textOf(file)
  const change = before === undefined ? 'created' : withUnixEnds(before) === imported.text ? 'unchanged' : 'updated'
  if (change === 'updated' && !force && !before?.startsWith('// Imported from '))
    throw new NotImportedError(`${file} exists and was not written by import: move it, or overwrite it with --force`)
  if (change !== 'unchanged' && !dryRun) {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, withEndsOf(before, imported.text))
  }
  return { ...imported, file, change }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function print(
  written: readonly Written[],
  failures: readonly { readonly name: string; readonly reason: string }[],
  { 'dry-run': dryRun, out }: { readonly 'dry-run': boolean; readonly out: string },
  { out: write, note, terminal = noTerminal }: CommandContext,
): void {
  // Names are text of others: a line of it must not look like one of this command, or like a command for a CI system.
  for (const { file, change, kind, group, versions, differences } of written) {
    write(actionLine(change, oneLine(`${file}: ${kind} of ${group} ${versions.join(', ')}`), terminal.paint))
    if (differences.length > 0) note(`  differs from its CRD at ${oneLine(differences.join(', '))}`)
  }
  for (const { name, reason } of failures)
    note(`${terminal.paintNote('red', `${oneLine(name)} is not imported:`)} ${oneLine(reason)}`)
  const [first] = written
  if (dryRun) note('Nothing was written: --dry-run')
  else if (first !== undefined) note(`Use in src/: import { ${first.name} } from '${moduleName(out, first.path)}'`)
}

/** The specifier with which a module in src/ imports the file if that is below src/, else the path of the file. */
function moduleName(folder: string, path: string): string {
  const below = /^(?:\.\/)?src\/?(.*)$/.exec(folder)
  return below === null ? join(folder, path) : `./${join(below[1] ?? '', path)}`
}
