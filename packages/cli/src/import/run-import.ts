import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CrdManifest } from '@kubewright/api'
import { clusterFlags, connectCluster } from '../cluster/connect-cluster.ts'
import type { Command, CommandContext } from '../command/command.ts'
import { crdsIn, type UselessCrd, uselessCrdsIn } from '../input/crds-in.ts'
import { type ManifestDocument, readManifests, tellInput } from '../input/read-manifests.ts'
import { parseFlags } from '../parse-flags.ts'
import { actionLine } from '../terminal/action-line.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { withEndsOf, withUnixEnds } from '../text/line-ends.ts'
import { UsageError } from '../usage-error.ts'
import { builtinNamed, clusterCrds } from './cluster-crds.ts'
import { type ImportedKind, importCrd } from './import-crd.ts'

/** Makes TypeScript kinds of the definitions of others. */
export const importCommand: Command = {
  name: 'import',
  summary: 'Make TypeScript kinds of CRDs, from files or a cluster',
  help: `Usage: kubewright import FILE... [OPTIONS]
       kubewright import --cluster [NAME...] [OPTIONS]

Writes a module per kind that defines it with s, so that an operator can use the
kinds of others with types: DIR/GROUP/KIND.ts, such as
  src/imported/cert-manager.io/certificate.ts
Each is compared with its CRD: what it does not say is told.

FILE is a file or folder of YAML or JSON, or - for the standard input. With
--cluster, the CRDs and extension servers of a cluster are asked instead; NAME
is a group, a kind, or a name such as certificates.cert-manager.io.

Options
  --out DIR           Where the modules go (default src/imported)
  --versions LIST     Take these versions only, such as v1 or v1,v1beta1
  --no-descriptions   Leave the texts of fields out, for shorter modules
  --cluster           Import from a cluster
  --kubeconfig FILE   The cluster's kubeconfig (default: as kubectl)
  --context NAME      The context in the kubeconfig
  --dry-run           Tell what would be written
  --force             Overwrite files that were not imported
  --output json       Print the result as JSON`,
  run: (args, context) => importKinds(args, context),
}

interface Written extends ImportedKind {
  readonly file: string
  readonly change: 'created' | 'updated' | 'unchanged'
}

async function importKinds(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], options: flags, allowPositionals: true })
  const asJson = jsonWanted(values.output)
  if (!values.cluster && positionals.length === 0)
    throw new UsageError('name files or folders with CRDs, or say --cluster')
  if (!values.cluster) tellInput(positionals, context.note)
  const documents = values.cluster ? [] : await readManifests(positionals)
  const crds = values.cluster ? await fromCluster(positionals, values, context) : crdsIn(documents)
  // One file that cannot be read does not keep the others from being imported.
  const failures = [...unreadable(documents), ...uselessCrdsIn(documents)]
  if (crds.length === 0 && failures.length === 0) {
    const where = values.cluster ? 'the cluster' : positionals.join(' ')
    const builtin = values.cluster ? builtinNamed(positionals) : []
    if (builtin.length > 0)
      throw new Error(`There is nothing to import: kubewright/k8s has ${builtin.join(', ')}, with types`)
    const what = 'CustomResourceDefinition of apiextensions.k8s.io/v1'
    const isNamed = values.cluster && positionals.length > 0
    throw new Error(
      isNamed ? `The cluster has no ${what} named ${positionals.join(' or ')}` : `There is no ${what} in ${where}`,
    )
  }
  const versions = values.versions?.split(',').map((name) => name.trim())
  const written: Written[] = []
  for (const crd of crds) {
    try {
      const imported = importCrd(crd, { versions, descriptions: !values['no-descriptions'] })
      written.push(await write(imported, join(values.out, imported.path), values))
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof RangeError || error instanceof NotImportedError)) throw error
      failures.push({ name: crd.metadata.name, reason: error.message })
    }
  }
  if (asJson) {
    const kinds = written.map(({ text: _, path: __, ...rest }) => rest)
    context.out(jsonText({ dryRun: values['dry-run'], kinds, failures }, 2))
  } else tell(written, failures, values, context)
  return failures.length > 0 ? 1 : 0
}

const flags = {
  ...clusterFlags,
  out: { type: 'string', default: 'src/imported' },
  versions: { type: 'string' },
  'no-descriptions': { type: 'boolean', default: false },
  cluster: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  output: { type: 'string' },
} as const

/** Whether `--output` asks for JSON. Throws {@link UsageError} for anything else than JSON and text. */
function jsonWanted(output: string | undefined): boolean {
  if (output !== undefined && output !== 'json' && output !== 'text')
    throw new UsageError(`--output must be text or json, not "${output}"`)
  return output === 'json'
}

async function fromCluster(
  names: readonly string[],
  choice: { readonly kubeconfig?: string; readonly context?: string },
  context: CommandContext,
): Promise<CrdManifest[]> {
  const client = await connectCluster(choice, context)
  try {
    return await clusterCrds(client, context.signal, names)
  } finally {
    await client[Symbol.asyncDispose]()
  }
}

function unreadable(documents: readonly ManifestDocument[]): UselessCrd[] {
  return documents.flatMap(({ file, line, text, problem }) => {
    if (problem === undefined) return []
    const cure = text.includes('{{') ? '; if it is a template of Helm, import what helm template prints' : ''
    return [{ name: `${file}:${line}`, reason: `${problem}${cure}` }]
  })
}

class NotImportedError extends Error {}

async function write(
  imported: ImportedKind,
  file: string,
  { force, 'dry-run': dryRun }: { readonly force: boolean; readonly 'dry-run': boolean },
): Promise<Written> {
  const before = await textOf(file)
  const change = before === undefined ? 'created' : withUnixEnds(before) === imported.text ? 'unchanged' : 'updated'
  if (change === 'updated' && !force && !before?.startsWith('// Imported from '))
    throw new NotImportedError(`${file} is there and was not imported: move it away, or overwrite it with --force`)
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

function tell(
  written: readonly Written[],
  failures: readonly { readonly name: string; readonly reason: string }[],
  { 'dry-run': dryRun, out }: { readonly 'dry-run': boolean; readonly out: string },
  { out: print, note, terminal = noTerminal }: CommandContext,
): void {
  for (const { file, change, kind, group, versions, differences } of written) {
    print(actionLine(change, `${file}: ${kind} of ${group} ${versions.join(', ')}`, terminal.paint))
    if (differences.length > 0) note(`  differs from its CRD at ${differences.join(', ')}`)
  }
  for (const { name, reason } of failures) note(`${terminal.paintNote('red', `${name} is not imported:`)} ${reason}`)
  const [first] = written
  if (dryRun) note('Nothing was written: --dry-run')
  else if (first !== undefined) note(`Use them: import { ${first.name} } from '${moduleName(out, first.path)}'`)
}

/** How a module in src/ names an imported one, if that is below src/ as well; else where it is. */
function moduleName(folder: string, path: string): string {
  const below = /^(?:\.\/)?src\/?(.*)$/.exec(folder)
  return below === null ? join(folder, path) : `./${join(below[1] ?? '', path)}`
}
