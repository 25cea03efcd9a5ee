import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { KubewrightError, UsageError } from '@kubewright/base'
import type { CommandInput } from '../../command/command.ts'
import { type CommandContext, folderOf } from '../../command/command-context.ts'
import { actionLine, type FileAction } from '../../terminal/action-line.ts'
import { paintDiff } from '../../terminal/colors.ts'
import { noTerminal } from '../../terminal/terminal.ts'
import { withEndsOf } from '../../text/line-ends.ts'
import { plural } from '../../text/plural.ts'
import { readRawText, readText } from '../../text/read-text.ts'
import { textDiff } from '../../text/text-lines.ts'
import { kubewrightVersion } from '../pinned-versions.ts'
import { requireProject } from '../read-project.ts'
import { scaffoldOf, textOf } from '../scaffold-of.ts'
import { filesIn, oldScaffold } from './old-scaffold.ts'
import { planUpgrade, type UpgradedFile } from './plan-upgrade.ts'
import type { upgradeFlags } from './upgrade-command.ts'

/** Merges the scaffold of this version into a project. */
export async function runUpgrade(
  { flags }: CommandInput<typeof upgradeFlags>,
  context: CommandContext,
): Promise<number> {
  const folder = folderOf(context)
  const project = requireProject(folder)
  const from = flags['from-version'] ?? project.cliVersion
  if (!/^\d+\.\d+\.\d+(?:-[\w.-]+)?$/.test(from)) {
    throw new UsageError(`the version of the scaffold is "${from}": name it with --from-version, such as 0.1.0`)
  }
  if (compareVersions(from, kubewrightVersion) > 0) {
    throw new UsageError(
      `the project has the scaffold of ${from}, which is newer than this version, ${kubewrightVersion}: run npx @kubewright/cli@latest upgrade`,
    )
  }
  if (from === kubewrightVersion && flags.base === undefined) {
    context.note(`Nothing to do: the project has the scaffold of ${kubewrightVersion}`)
    return 0
  }
  if (!flags.force && !flags['dry-run'] && (await hasChanges(folder))) {
    throw new KubewrightError(
      'KW_PROJECT',
      'The project has uncommitted changes: commit them, so that git diff shows the upgrade, or use --force',
    )
  }
  const base = await baseFiles(folder, from, flags.base, context)
  const files = scaffoldOf({ ...project, cliVersion: kubewrightVersion })
  const next = new Map([...files].map(([path, file]) => [path, textOf(file)]))
  const read = (path: string): string | undefined => readText(join(folder, path))
  const plan = planUpgrade({ base, next, read, versions: { old: from, new: kubewrightVersion } })
  if (!flags['dry-run']) for (const file of inOrder(plan)) write(folder, file)
  report(plan, from, flags, context)
  return plan.some(({ action }) => action === 'conflict') && !flags['dry-run'] ? 1 : 0
}

/** PROJECT last: if writing fails before that, the command can be repeated. */
function inOrder(plan: readonly UpgradedFile[]): UpgradedFile[] {
  return [...plan].sort((a, b) => Number(a.path === 'PROJECT') - Number(b.path === 'PROJECT'))
}

async function baseFiles(
  folder: string,
  version: string,
  given: string | undefined,
  { note, terminal = noTerminal }: CommandContext,
): Promise<Map<string, string>> {
  if (given !== undefined) {
    const base = resolve(folder, given)
    if (!existsSync(join(base, 'PROJECT'))) {
      throw new UsageError(`${given} has no PROJECT file: run kubewright init --replay of version ${version} in it`)
    }
    return filesIn(base)
  }
  const text = `Writing the files of version ${version} to a temporary folder`
  if (terminal.progress === undefined) note(text)
  else terminal.progress.show(text)
  const files = await oldScaffold(folder, version)
  terminal.progress?.clear()
  return files
}

const words: Readonly<Record<UpgradedFile['action'], FileAction>> = {
  create: 'created',
  update: 'updated',
  merge: 'merged',
  conflict: 'conflict',
  offer: 'proposed',
  keep: 'kept',
  remove: 'removed',
}

function report(
  plan: readonly UpgradedFile[],
  from: string,
  flags: { readonly 'dry-run': boolean; readonly output: 'text' | 'json' },
  { out, note, terminal = noTerminal }: CommandContext,
): void {
  const isDryRun = flags['dry-run']
  const { paint } = terminal
  if (flags.output === 'json') {
    const files = plan.map(({ path, action, notes }) => ({ path, action, ...(notes.length > 0 ? { notes } : {}) }))
    out(JSON.stringify({ dryRun: isDryRun, from, to: kubewrightVersion, files }, undefined, 2))
  } else if (isDryRun) for (const file of plan) for (const line of diffOf(file)) out(paintDiff(line, paint))
  else for (const { path, action } of plan) out(actionLine(words[action], targetOf({ path, action }), paint))
  for (const { notes } of plan) for (const text of notes) note(text)
  const conflicts = plan.filter(({ action }) => action === 'conflict').length
  if (isDryRun) note(`Nothing was written: ${plural(plan.length, 'file')} would change, ${conflicts} with conflicts`)
  else {
    const first = conflicts === 0 ? '' : 'resolve the conflicts, then '
    note(
      `Upgraded from ${from} to ${kubewrightVersion}. Next: ${first}npm install, npx kubewright generate and npm test`,
    )
  }
}

const targetOf = ({ path, action }: Pick<UpgradedFile, 'path' | 'action'>): string =>
  action === 'offer' ? `${path}.new` : path

function write(folder: string, { path, action, after }: UpgradedFile): void {
  const file = join(folder, targetOf({ path, action }))
  if (action === 'remove') rmSync(file, { force: true })
  if (after === undefined) return
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, withEndsOf(readRawText(file), after))
}

function diffOf(file: UpgradedFile): string[] {
  const { action, before = '', after = '' } = file
  if (action === 'keep') return []
  const old = action === 'offer' ? '' : before
  return [
    `--- ${old === '' ? '/dev/null' : file.path}`,
    `+++ ${action === 'remove' ? '/dev/null' : targetOf(file)}`,
    ...textDiff(old, after),
  ]
}

/** Whether a git repository has uncommitted changes in the folder. False without a repository. */
function hasChanges(folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('git', ['status', '--porcelain', '--', '.'], { cwd: folder }, (error, out) => {
      resolve(error === null && out.trim() !== '')
    })
  })
}

/** Compares the numbers of two versions. A pre-release is older than its release. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => {
    const [numbers = '', label] = version.split(/-(.*)/s)
    return [...numbers.split('.').map(Number), label === undefined ? 1 : 0]
  })
  for (const [index, number] of left!.entries()) {
    if (number !== right![index]) return number - right![index]!
  }
  return 0
}
