import type { CrdManifest } from '@kubewright/api'
import { clusterFlags, connectCluster } from '../cluster/connect-cluster.ts'
import type { Command, CommandContext } from '../command/command.ts'
import { clusterCrds } from '../import/cluster-crds.ts'
import { crdsIn } from '../input/crds-in.ts'
import { readSoundManifests, tellInput } from '../input/read-manifests.ts'
import { parseFlags } from '../parse-flags.ts'
import { fitted, noTerminal } from '../terminal/terminal.ts'
import { jsonText } from '../text/json-text.ts'
import { plural } from '../text/plural.ts'
import { UsageError } from '../usage-error.ts'
import { compareCrds } from './compare-crds.ts'
import type { CrdChange, Severity } from './crd-change.ts'

/** Compares definitions. */
export const crdCommand: Command = {
  name: 'crd',
  summary: 'Tell which changes of CRDs break objects or clients',
  help: `Usage: kubewright crd diff OLD NEW [OPTIONS]
       kubewright crd diff --cluster NEW [OPTIONS]

Compares CRDs and says of each change whether it is
  breaking   objects or clients that work today fail: a version or field
             is gone, a field is required, a bound, pattern, enum or rule
             is tighter
  warning    what they see may change: defaults, the storage version, merging
  safe       all go on as before
OLD and NEW are files or folders of YAML or JSON, or - for the standard input;
with --cluster, OLD is what a cluster has.

Exits with 0 if nothing is breaking, 1 if something is, 2 if called wrongly.

Options
  --fail-on LEVEL     breaking, warning or never (default breaking)
  --all               Also print safe changes
  --cluster           Compare with what a cluster has
  --kubeconfig FILE   The cluster's kubeconfig (default: as kubectl)
  --context NAME      The context in the kubeconfig
  --output json       Print the result as JSON`,
  nameFor: ([verb]) => (verb === 'diff' ? 'crd diff' : 'crd'),
  run: (args, context) => crd(args, context),
}

const flags = {
  ...clusterFlags,
  'fail-on': { type: 'string', default: 'breaking' },
  all: { type: 'boolean', default: false },
  cluster: { type: 'boolean', default: false },
  output: { type: 'string', default: 'text' },
} as const

async function crd(args: readonly string[], context: CommandContext): Promise<number> {
  const { values, positionals } = parseFlags({ args: [...args], options: flags, allowPositionals: true })
  const [verb, ...files] = positionals
  if (verb !== 'diff') throw new UsageError(verb === undefined ? 'say what to do: diff' : `unknown command "${verb}"`)
  if (files.length !== (values.cluster ? 1 : 2))
    throw new UsageError(values.cluster ? 'with --cluster, name the new CRDs only' : 'name the old and the new CRDs')
  if (values.output !== 'text' && values.output !== 'json')
    throw new UsageError(`--output must be text or json, not "${values.output}"`)
  if (!['breaking', 'warning', 'never'].includes(values['fail-on']))
    throw new UsageError(`--fail-on must be breaking, warning or never, not "${values['fail-on']}"`)
  tellInput(files, context.note)
  const after = await crdsAt(files.at(-1)!)
  const before = values.cluster ? await installed(after, values, context) : await crdsAt(files[0]!)
  const changes = compareCrds(before, after)
  const failing: readonly Severity[] =
    values['fail-on'] === 'never' ? [] : values['fail-on'] === 'warning' ? ['breaking', 'warning'] : ['breaking']
  const fails = changes.some(({ severity }) => failing.includes(severity))
  if (values.output === 'json') context.out(jsonText({ compatible: !fails, changes }, 2))
  else tell(changes, values.all, context)
  return fails ? 1 : 0
}

async function crdsAt(file: string): Promise<CrdManifest[]> {
  const crds = crdsIn(await readSoundManifests([file]))
  if (crds.length === 0) throw new Error(`There is no CustomResourceDefinition of apiextensions.k8s.io/v1 in ${file}`)
  return crds
}

/** What the cluster has of some definitions; others in it are none of their business. */
async function installed(
  wanted: readonly CrdManifest[],
  choice: { readonly kubeconfig?: string; readonly context?: string },
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

function tell(changes: readonly CrdChange[], all: boolean, { out, note, terminal = noTerminal }: CommandContext): void {
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
    note('Nothing differs')
    return
  }
  const hidden = all || count('safe') === 0 ? '' : '; --all shows what is safe'
  note(`${count('breaking')} breaking, ${plural(count('warning'), 'warning')}, ${count('safe')} safe${hidden}`)
}
