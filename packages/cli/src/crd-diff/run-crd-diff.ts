import type { CrdManifest } from '@kubewright/api'
import { KubewrightError, UsageError } from '@kubewright/base'
import { type ClusterChoice, connectCluster } from '../cluster/connect-cluster.ts'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { clusterCrds } from '../import/cluster-crds.ts'
import { crdsIn } from '../input/crds-in.ts'
import { noteInput, readSoundManifests } from '../input/read-manifests.ts'
import { fitted, noTerminal } from '../terminal/terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { plural } from '../text/plural.ts'
import { compareCrds } from './compare-crds.ts'
import { conversionChanges, webhookConverted } from './conversion-changes.ts'
import type { CrdChange, Severity } from './crd-change.ts'
import type { crdDiffArguments, crdDiffFlags } from './crd-command.ts'

const failing: Readonly<Record<'breaking' | 'warning' | 'never', readonly Severity[]>> = {
  breaking: ['breaking'],
  warning: ['breaking', 'warning'],
  never: [],
}

/** Compares CRDs and reports their changes by severity. */
export async function runCrdDiff(
  { flags, args }: CommandInput<typeof crdDiffFlags, typeof crdDiffArguments>,
  context: CommandContext,
): Promise<number> {
  if (flags.cluster && args.new !== undefined)
    throw new UsageError(`unexpected argument "${args.new}": with --cluster, name the new CRDs only`)
  if (!flags.cluster && args.new === undefined)
    throw new UsageError('NEW is missing: name the new CRDs, or compare with a cluster with --cluster')
  const files = args.new === undefined ? [args.old] : [args.old, args.new]
  noteInput(files, context.note)
  const after = await crdsAt(files.at(-1)!)
  const before = flags.cluster ? await installed(after, flags, context) : await crdsAt(args.old)
  const losses = flags.operator === undefined ? [] : await lossesOf(flags.operator, after, context)
  const changes = [...compareCrds(before, after), ...losses].sort(byCrd)
  const fails = changes.some(({ severity }) => failing[flags['fail-on']].includes(severity))
  if (flags.output === 'json') context.out(jsonText({ compatible: !fails, changes }, 2))
  else print(changes, flags.all, context)
  const unchecked = flags.operator === undefined ? webhookConverted(after) : []
  if (unchecked.length > 0) {
    context.note(
      `The conversion of ${unchecked.join(', ')} was not checked for losses: name its operator with --operator ENTRY`,
    )
  }
  return fails ? 1 : 0
}

/** By CRD and severity, otherwise in the given order. */
function byCrd(a: CrdChange, b: CrdChange): number {
  if (a.crd !== b.crd) return a.crd < b.crd ? -1 : 1
  return severities.indexOf(a.severity) - severities.indexOf(b.severity)
}

const severities: readonly Severity[] = ['breaking', 'warning', 'safe']

async function lossesOf(
  entry: string,
  crds: readonly CrdManifest[],
  context: CommandContext,
): Promise<readonly CrdChange[]> {
  return conversionChanges(entry, crds, { clock: context.clock, folder: folderOf(context) })
}

async function crdsAt(file: string): Promise<CrdManifest[]> {
  const crds = crdsIn(await readSoundManifests([file]))
  if (crds.length === 0)
    throw new KubewrightError(
      'KW_MANIFEST',
      `There is no CustomResourceDefinition of apiextensions.k8s.io/v1 in ${file}`,
    )
  return crds
}

/** The CRDs of the cluster that have the same names as the given ones. */
async function installed(
  wanted: readonly CrdManifest[],
  choice: ClusterChoice,
  context: CommandContext,
): Promise<CrdManifest[]> {
  const client = await connectCluster(choice, context)
  try {
    const names = wanted.map(({ metadata }) => metadata.name)
    return (await clusterCrds(client, context.signal, names)).filter(({ metadata }) => names.includes(metadata.name))
  } finally {
    await client[Symbol.asyncDispose]()
  }
}

const colors = { breaking: 'red', warning: 'yellow', safe: 'green' } as const

function print(
  changes: readonly CrdChange[],
  all: boolean,
  { out, note, terminal = noTerminal }: CommandContext,
): void {
  const shown = changes.filter(({ severity }) => all || severity !== 'safe')
  const { paint } = terminal
  let last = ''
  for (const { crd, severity, version, path, message } of shown) {
    if (crd !== last) out(paint('bold', crd))
    last = crd
    const where = [version, path].filter(Boolean).join(' ')
    const level = paint(colors[severity], severity) + ' '.repeat(8 - severity.length)
    out(fitted(`  ${level}  ${where === '' ? '' : `${where}: `}${message}`, terminal, 12))
  }
  const count = (severity: Severity): number => changes.filter((change) => change.severity === severity).length
  if (changes.length === 0) {
    note('The CRDs do not differ')
    return
  }
  const hidden = all || count('safe') === 0 ? '' : '; --all shows the safe ones'
  note(`${count('breaking')} breaking, ${plural(count('warning'), 'warning')}, ${count('safe')} safe${hidden}`)
}
