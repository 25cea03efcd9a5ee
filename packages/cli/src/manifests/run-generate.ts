import type { Command, CommandContext } from '../command/command.ts'
import { readFlags } from '../scaffold/read-flags.ts'
import { textDiff } from '../scaffold/text-lines.ts'
import { actionLine } from '../terminal/action-line.ts'
import { paintDiff } from '../terminal/colors.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { plural } from '../text/plural.ts'
import { bundleFiles } from './bundle-files.ts'
import { channelsOf, examplesOf } from './bundle-inputs.ts'
import { checkDefinitions } from './check-definitions.ts'
import { configFiles } from './config-files.ts'
import { describeProject } from './describe-project.ts'
import { derived, type GeneratedFile } from './generated-file.ts'
import { chartFiles } from './helm-chart.ts'
import { installManifest } from './install-objects.ts'
import type { ManifestOptions } from './manifest-options.ts'
import { type FilePlan, isChange, planFiles } from './plan-files.ts'
import { readIcon } from './project-facts.ts'
import { carryOut, readFolders } from './project-files.ts'
import { splitEntry } from './split-entry.ts'
import { type BundleProblem, validateBundle } from './validate-bundle.ts'

const flags = {
  check: 'switch',
  'dry-run': 'switch',
  force: 'switch',
  image: 'text',
  namespace: 'text',
  'cert-manager': 'switch',
  prometheus: 'switch',
  'network-policy': 'switch',
  installer: 'switch',
  helm: 'switch',
  bundle: 'switch',
  channels: 'text',
  'default-channel': 'text',
  output: 'text',
} as const

/** Writes the manifests of an operator. */
export const generateCommand: Command = {
  name: 'generate',
  summary: 'Write the manifests of an operator: CRDs, roles, webhooks and more',
  help: `Usage: kubewright generate [ENTRY] [OPTIONS]

Writes config/ from the operator that ENTRY exports, in the layout of
kubebuilder: kubectl apply -k config/default installs it. ENTRY is found as by
kubewright run.

CRDs, config/rbac/role.yaml and config/webhook/manifests.yaml follow from the
code and are always written. Every other file is yours to change: its first line
shows whether you did, and then it is left alone. What config/ was made with is
remembered there.

Options
  --check            Write nothing; fail and show the differences if something
                     would be written
  --dry-run          Write nothing; show the differences
  --force            Also write files that you changed
  --image IMAGE      The image of the operator (default controller:latest)
  --namespace NAME   Where the operator runs (default <operator>-system)
  --cert-manager     Have cert-manager look after the certificate of the
                     webhooks; without it the operator does so itself
  --prometheus       Have Prometheus scrape metrics and know the alerts
  --network-policy   Close the pod to all but metrics and webhooks
  --installer        Also write dist/install.yaml, which has everything; once it
                     is there it is kept up to date
  --helm             Also write a Helm chart to dist/chart; once it is there it
                     is kept up to date, but for values.yaml if you changed it
  --bundle           Also write a bundle for OLM to bundle/, and check it; once
                     it is there it is kept up to date
  --channels A,B     The channels of the bundle (default alpha)
  --default-channel CHANNEL
                     The one that users get (default the first)
  --output json      Tell what was done as JSON

Switches are turned off with --no-NAME.`,
  run: generate,
}

async function generate(args: readonly string[], context: CommandContext): Promise<number> {
  const { given, rest } = splitEntry(args)
  const values = readFlags(rest, flags)
  const { folder, facts, operator } = await describeProject(given, context)
  checkDefinitions(operator)
  const { chosen } = facts
  const options: ManifestOptions = {
    namespace: values.namespace ?? chosen.namespace,
    image: values.image ?? chosen.image,
    certManager: values['cert-manager'] ?? chosen.certManager,
    prometheus: values.prometheus ?? chosen.prometheus,
    networkPolicy: values['network-policy'] ?? chosen.networkPolicy,
  }
  const present = await readFolders(folder, [
    'config',
    'grafana',
    'dist/install.yaml',
    'dist/chart',
    'bundle',
    'bundle.Dockerfile',
  ])
  const samples = samplesIn(present)
  const files = new Map<string, GeneratedFile>(configFiles(operator, { ...options, samples }))
  if (values.installer ?? present.has('dist/install.yaml'))
    files.set('dist/install.yaml', derived(installManifest(operator, options)))
  const { version, description } = facts
  if (values.helm ?? present.has('dist/chart/Chart.yaml')) {
    for (const [path, file] of chartFiles(operator, { ...options, version, description })) files.set(path, file)
  }
  let problems: readonly BundleProblem[] = []
  if (values.bundle ?? present.has('bundle/metadata/annotations.yaml')) {
    const bundle = bundleFiles(operator, {
      ...facts,
      ...options,
      ...channelsOf(values, present),
      version: version ?? '0.0.1',
      icon: facts.iconFile === undefined ? undefined : await readIcon(folder, facts.iconFile),
      samples: examplesOf(operator, textsAfter(planFiles({ files, present, force: values.force }), present)),
    })
    for (const [path, file] of bundle) files.set(path, file)
    problems = validateBundle(new Map([...bundle].map(([path, { text }]) => [path, text])))
  }
  const plans = planFiles({ files, present, force: values.force })
  const isWriting = !values.check && !values['dry-run']
  if (isWriting) await carryOut(folder, plans)
  if (values.output === 'json') {
    const done = plans.map(({ path, action }) => ({ path, action }))
    context.out(JSON.stringify({ dryRun: !isWriting, files: done, problems }, null, 2))
  } else if (isWriting) tell(plans, context)
  else {
    const { paint } = context.terminal ?? noTerminal
    for (const line of differences(plans)) context.out(paintDiff(line, paint))
  }
  const { paintNote } = context.terminal ?? noTerminal
  for (const { severity, path, message } of problems) {
    const color = severity === 'error' ? 'red' : 'yellow'
    context.note(`${paintNote(color, severity)}${' '.repeat(9 - severity.length)} ${path}: ${message}`)
  }
  if (problems.some(({ severity }) => severity === 'error')) return 1
  const changes = plans.filter(isChange)
  if (changes.length === 0 && !isWriting && values.output !== 'json')
    context.note(`All ${plural(plans.length, 'file')} are up to date`)
  if (!values.check || changes.length === 0) return 0
  const isOne = changes.length === 1
  context.note(
    `${paintNote('red', 'kubewright generate:')} ${changes.length} of ${plural(plans.length, 'file')} ${isOne ? 'is' : 'are'} not up to date: run kubewright generate`,
  )
  return 1
}

/** The texts of files as they are once the plans are carried out. */
function textsAfter(plans: readonly FilePlan[], present: ReadonlyMap<string, string>): Map<string, string> {
  const texts = new Map(present)
  for (const { path, action, after } of plans) {
    if (action === 'create' || action === 'update') texts.set(path, after!)
    else if (action === 'remove') texts.delete(path)
  }
  return texts
}

/** The texts of samples by the names of their files, without the kustomization among them. */
function samplesIn(present: ReadonlyMap<string, string>): Map<string, string> {
  const samples = new Map<string, string>()
  for (const [path, text] of present) {
    const name = /^config\/samples\/([^/]+\.ya?ml)$/.exec(path)?.[1]
    if (name !== undefined && name !== 'kustomization.yaml') samples.set(name, text)
  }
  return samples
}

const done = { create: 'created', update: 'updated', remove: 'removed' } as const

const countedAs = {
  created: ['create'],
  updated: ['update'],
  removed: ['remove'],
  kept: ['kept', 'outdated', 'stale'],
  'up to date': ['unchanged'],
} as const satisfies Record<string, readonly FilePlan['action'][]>

function tell(plans: readonly FilePlan[], { out, note, terminal = noTerminal }: CommandContext): void {
  const { paint, paintNote } = terminal
  const kept = (text: string): void => note(actionLine('kept', text, paintNote))
  for (const { path, action, isOnce } of plans) {
    if (action in done) out(actionLine(done[action as keyof typeof done], path, paint))
    else if (isOnce) kept(`${path}, which is written once and would be made in another way now: change it by hand`)
    else if (action === 'kept') kept(`${path}, which you changed`)
    else if (action === 'outdated')
      kept(`${path}, which you changed, although it would be made in another way now: see --force --dry-run`)
    else if (action === 'stale') kept(`${path}, which you changed, although nothing needs it any more`)
  }
  const counts = Object.entries(countedAs)
    .map(([word, actions]) => {
      const has = (action: string): boolean => (actions as readonly string[]).includes(action)
      return { word, count: plans.filter(({ action }) => has(action)).length }
    })
    .filter(({ count }) => count > 0)
  const isDone = plans.every(({ action }) => action === 'unchanged')
  const parts = counts.map(({ word, count }, index) => `${index === 0 ? plural(count, 'file') : count} ${word}`)
  note(isDone ? 'Nothing to do: all is up to date' : parts.join(', '))
}

function differences(plans: readonly FilePlan[]): string[] {
  return plans
    .filter(isChange)
    .flatMap(({ path, before, after }) => [
      `--- ${before === undefined ? '/dev/null' : path}`,
      `+++ ${after === undefined ? '/dev/null' : path}`,
      ...textDiff(before ?? '', after ?? ''),
    ])
}
