import { errorText } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { entryArgument } from '../entry/entry-argument.ts'
import type { TextSource } from '../kustomize/kustomization.ts'
import { actionLine } from '../terminal/action-line.ts'
import { paintDiff } from '../terminal/colors.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { plural } from '../text/plural.ts'
import { textDiff } from '../text/text-lines.ts'
import { bundleFiles, objectsOutsideBundle } from './bundle-files.ts'
import { channelsOf, examplesOf } from './bundle-inputs.ts'
import { checkDefinitions } from './check-definitions.ts'
import { buildConfig } from './config-build.ts'
import { configFiles } from './config-files.ts'
import { type ConfigSettings, withSettings } from './config-settings.ts'
import { describeProject } from './describe-project.ts'
import type { generateFlags } from './generate-command.ts'
import { derived, type GeneratedFile, type GeneratedFiles } from './generated-file.ts'
import { chartFiles } from './helm-chart.ts'
import { largeDefinitions } from './large-definitions.ts'
import { yamlOf } from './manifest.ts'
import type { ManifestOptions } from './manifest-options.ts'
import { type FilePlan, isChange, type PlanFilesOptions, planFiles, textsAfter } from './plan-files.ts'
import { readIcon } from './project-facts.ts'
import { projectTexts, readFolders, writeFiles } from './project-files.ts'
import { sampleProblemsIn } from './sample-problems.ts'
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
  const files = new Map<string, GeneratedFile>(configFiles(operator, { ...options, samples: samplesIn(present) }))
  const configured = configPlans({ files, present, force: flags.force }, flags)
  const config = projectTexts(folder, textsAfter(configured, present))
  const { version = '0.0.1', description } = facts
  const problems: BundleProblem[] = [
    ...largeDefinitions(operator),
    ...sampleProblemsIn(operator, textsAfter(configured, present)),
  ]
  const artifacts = new Map<string, GeneratedFile>()
  const add = (made: GeneratedFiles): void => {
    for (const [path, file] of made) artifacts.set(path, file)
  }
  const { name } = operator
  if (flags.installer ?? present.has('dist/install.yaml')) {
    const objects = buildConfig(config).map(({ object }) => object)
    add(new Map([['dist/install.yaml', derived(yamlOf(...objects))]]))
  }
  if (flags.helm ?? present.has('dist/chart/Chart.yaml')) {
    add(chartFiles({ name, config, version, description, present }))
  }
  if (flags.bundle ?? present.has('bundle/metadata/annotations.yaml')) {
    const bundle = bundleFiles(operator, {
      ...facts,
      ...channelsOf(flags, present),
      config,
      version,
      icon: facts.iconFile === undefined ? undefined : await readIcon(folder, facts.iconFile),
      samples: examplesOf(operator, textsAfter(configured, present)),
    })
    add(bundle)
    problems.push(...validateBundle(new Map([...bundle].map(([path, { text }]) => [path, text]))))
    for (const { kind, metadata } of objectsOutsideBundle(operator, config)) {
      const message = `OLM does not install objects of the kind ${kind}, such as ${metadata.name}: the bundle lacks it`
      problems.push({ severity: 'warning', path: 'bundle/manifests', message })
    }
  }
  if (artifacts.size === 0) problems.push(...buildProblems(config))
  const elsewhere = new Map([...present].filter(([path]) => !isConfigured(path)))
  const plans = [...configured, ...planFiles({ files: artifacts, present: elsewhere, force: flags.force })].sort(
    (a, b) => (a.path < b.path ? -1 : 1),
  )
  const isWriting = !flags.check && !flags['dry-run']
  if (isWriting) await writeFiles(folder, plans)
  if (flags.output === 'json') {
    const done = plans.map((plan) => ({
      path: plan.path,
      action: plan.action,
      ...(differs(plan) ? { difference: changesOf(plan) } : {}),
    }))
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

const isConfigured = (path: string): boolean => /^(config|grafana)\//.test(path)

/** The plans for config/ and grafana/. In kustomizations that the user changed, the settings of the flags are changed too. */
function configPlans({ files, present, force }: PlanFilesOptions, flags: ConfigSettings): FilePlan[] {
  const plans = planFiles({ files, present: new Map([...present].filter(([path]) => isConfigured(path))), force })
  return plans.map((plan) => {
    if (isChange(plan) || plan.before === undefined) return plan
    const after = withSettings(plan.path, plan.before, flags)
    return after === plan.before ? plan : { ...plan, action: 'update', after }
  })
}

/** Why config/default cannot be built, as a warning: without artifacts, nothing depends on it yet. */
function buildProblems(config: TextSource): BundleProblem[] {
  try {
    buildConfig(config)
    return []
  } catch (error) {
    return [{ severity: 'warning', path: 'config/default', message: errorText(error) }]
  }
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

const done = {
  create: 'created',
  update: 'updated',
  merge: 'merged',
  replace: 'replaced',
  remove: 'removed',
} as const

const countedAs = {
  created: ['create'],
  updated: ['update'],
  merged: ['merge'],
  replaced: ['replace'],
  removed: ['remove'],
  kept: ['kept', 'outdated', 'stale'],
  'up to date': ['unchanged'],
} as const satisfies Record<string, readonly FilePlan['action'][]>

function printPlans(plans: readonly FilePlan[], { out, note, terminal = noTerminal }: CommandContext): void {
  const { paint, paintNote } = terminal
  const kept = (text: string): void => note(actionLine('kept', text, paintNote))
  for (const plan of plans) {
    const { path, action, isOnce } = plan
    const changed = `which you changed (${changesOf(plan)})`
    if (action === 'replace') out(actionLine('replaced', `${path}, ${changed}${lossOf(path)}`, paint))
    else if (action === 'merge') out(actionLine('merged', `${path}, ${changed}`, paint))
    else if (action in done) out(actionLine(done[action as keyof typeof done], path, paint))
    else if (isOnce) kept(`${path}, which is written once but would differ now: change it by hand`)
    else if (action === 'kept') kept(`${path}, ${changed}`)
    else if (action === 'outdated')
      kept(`${path}, ${changed}; the generated content has changed too: see --force --dry-run`)
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

/** Whether the file of the user differs from the generated one. */
function differs({ action }: FilePlan): boolean {
  return ['merge', 'replace', 'kept', 'outdated'].includes(action)
}

/** The difference of the user's file from the generated one, such as `3 lines added, 1 removed`. */
function changesOf({ before = '', after = '' }: FilePlan): string {
  const lines = textDiff(after, before).filter((line) => !line.startsWith('@@'))
  const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length
  // The heading with the checksum differs if the generated content has changed.
  return `${plural(count('+'), 'line')} added, ${count('-')} removed`
}

/** The advice on a lost change of a file that is derived from the code. */
function lossOf(path: string): string {
  return path.startsWith('config/') ? ': it follows from the code; put changes into a patch of a kustomization' : ''
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
