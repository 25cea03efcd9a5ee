import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import { actionLine } from '../terminal/action-line.ts'
import { paintDiff } from '../terminal/colors.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { plural } from '../text/plural.ts'
import { textDiff } from '../text/text-lines.ts'
import { bundleFiles } from './bundle-files.ts'
import { channelsOf, examplesOf } from './bundle-inputs.ts'
import { checkDefinitions } from './check-definitions.ts'
import { configFiles } from './config-files.ts'
import { describeProject } from './describe-project.ts'
import type { generateFlags } from './generate-command.ts'
import { derived, type GeneratedFile } from './generated-file.ts'
import { chartFiles } from './helm-chart.ts'
import { installManifest } from './install-objects.ts'
import type { ManifestOptions } from './manifest-options.ts'
import { type FilePlan, isChange, planFiles } from './plan-files.ts'
import { readIcon } from './project-facts.ts'
import { readFolders, writeFiles } from './project-files.ts'
import { type BundleProblem, validateBundle } from './validate-bundle.ts'

/** Writes the manifests of an operator, or prints what would change. */
export async function runGenerate(
  { flags, args }: CommandInput<typeof generateFlags, typeof entryArgument>,
  context: CommandContext,
): Promise<number> {
  const { folder, facts, operator } = await describeProject(args.entry, context)
  checkDefinitions(operator)
  const { chosen } = facts
  const options: ManifestOptions = {
    namespace: flags.namespace ?? chosen.namespace,
    image: flags.image ?? chosen.image,
    certManager: flags['cert-manager'] ?? chosen.certManager,
    prometheus: flags.prometheus ?? chosen.prometheus,
    networkPolicy: flags['network-policy'] ?? chosen.networkPolicy,
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
  if (flags.installer ?? present.has('dist/install.yaml'))
    files.set('dist/install.yaml', derived(installManifest(operator, options)))
  const { version, description } = facts
  if (flags.helm ?? present.has('dist/chart/Chart.yaml')) {
    for (const [path, file] of chartFiles(operator, { ...options, version, description })) files.set(path, file)
  }
  let problems: readonly BundleProblem[] = []
  if (flags.bundle ?? present.has('bundle/metadata/annotations.yaml')) {
    const bundle = bundleFiles(operator, {
      ...facts,
      ...options,
      ...channelsOf(flags, present),
      version: version ?? '0.0.1',
      icon: facts.iconFile === undefined ? undefined : await readIcon(folder, facts.iconFile),
      samples: examplesOf(operator, textsAfter(planFiles({ files, present, force: flags.force }), present)),
    })
    for (const [path, file] of bundle) files.set(path, file)
    problems = validateBundle(new Map([...bundle].map(([path, { text }]) => [path, text])))
  }
  const plans = planFiles({ files, present, force: flags.force })
  const isWriting = !flags.check && !flags['dry-run']
  if (isWriting) await writeFiles(folder, plans)
  if (flags.output === 'json') {
    const done = plans.map(({ path, action }) => ({ path, action }))
    context.out(JSON.stringify({ dryRun: !isWriting, files: done, problems }, null, 2))
  } else if (isWriting) printPlans(plans, context)
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
  if (changes.length === 0 && !isWriting && flags.output !== 'json')
    context.note(`All ${plural(plans.length, 'file')} are up to date`)
  if (!flags.check || changes.length === 0) return 0
  const isOne = changes.length === 1
  context.note(
    `${paintNote('red', 'kubewright generate:')} ${changes.length} of ${plural(plans.length, 'file')} ${isOne ? 'is' : 'are'} not up to date: run kubewright generate`,
  )
  return 1
}

/** The texts of all files after the plans are written. */
function textsAfter(plans: readonly FilePlan[], present: ReadonlyMap<string, string>): Map<string, string> {
  const texts = new Map(present)
  for (const { path, action, after } of plans) {
    if (action === 'create' || action === 'update') texts.set(path, after!)
    else if (action === 'remove') texts.delete(path)
  }
  return texts
}

/** The texts of the samples by file name, without the kustomization. */
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

function printPlans(plans: readonly FilePlan[], { out, note, terminal = noTerminal }: CommandContext): void {
  const { paint, paintNote } = terminal
  const kept = (text: string): void => note(actionLine('kept', text, paintNote))
  for (const { path, action, isOnce } of plans) {
    if (action in done) out(actionLine(done[action as keyof typeof done], path, paint))
    else if (isOnce) kept(`${path}, which is written once but would differ now: change it by hand`)
    else if (action === 'kept') kept(`${path}, which you changed`)
    else if (action === 'outdated') kept(`${path}, which you changed but would differ now: see --force --dry-run`)
    else if (action === 'stale') kept(`${path}, which you changed but is no longer needed`)
  }
  const counts = Object.entries(countedAs)
    .map(([word, actions]) => {
      const has = (action: string): boolean => (actions as readonly string[]).includes(action)
      return { word, count: plans.filter(({ action }) => has(action)).length }
    })
    .filter(({ count }) => count > 0)
  const isDone = plans.every(({ action }) => action === 'unchanged')
  const parts = counts.map(({ word, count }, index) => `${index === 0 ? plural(count, 'file') : count} ${word}`)
  note(isDone ? 'Nothing to do: all files are up to date' : parts.join(', '))
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
