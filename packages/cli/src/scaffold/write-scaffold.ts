import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { actionLine } from '../terminal/action-line.ts'
import { paintDiff } from '../terminal/colors.ts'
import { noTerminal } from '../terminal/terminal.ts'
import { withEndsOf } from '../text/line-ends.ts'
import { plural } from '../text/plural.ts'
import { readRawText, readText } from '../text/read-text.ts'
import { textDiff } from '../text/text-lines.ts'
import { type PlannedFile, planFiles } from './plan-files.ts'
import type { Project } from './project.ts'
import { scaffoldOf } from './scaffold-of.ts'

/** A change of a project. */
export interface ScaffoldChange {
  /** The project until now. Undefined writes every missing file, also one that the user deleted. */
  readonly old: Project | undefined
  readonly next: Project
  /** Whether changes of the user in a file may be lost. @default never */
  readonly force?: ((path: string) => boolean) | undefined
  /** @default false */
  readonly dryRun?: boolean | undefined
  /** @default 'text' */
  readonly output?: 'text' | 'json' | undefined
}

/**
 * Writes the files that follow from a change of the project, or prints the change as a diff. Returns the plan. PROJECT is written last:
 * if writing fails before that, the command can be repeated.
 */
export function writeScaffold(
  { old, next, force, dryRun = false, output = 'text' }: ScaffoldChange,
  context: Pick<CommandContext, 'out' | 'note' | 'folder' | 'terminal'>,
): PlannedFile[] {
  const { out, note, terminal = noTerminal } = context
  const folder = folderOf(context)
  const plan = planFiles({
    old: old && scaffoldOf(old),
    next: scaffoldOf(next),
    read: (path) => readText(join(folder, path)),
    ...(force ? { force } : {}),
  })
  if (output === 'json') {
    const files = plan.map(({ path, action, hints }) => ({ path, action, ...(hints.length > 0 ? { hints } : {}) }))
    out(JSON.stringify({ dryRun, files }, undefined, 2))
  }
  const { paint } = terminal
  if (dryRun) {
    if (output !== 'json') for (const file of plan) for (const line of diffOf(file)) out(paintDiff(line, paint))
    note(`Nothing was written: ${summary(plan)}`)
    return plan
  }
  for (const file of [
    ...plan.filter(({ path }) => path !== 'PROJECT'),
    ...plan.filter(({ path }) => path === 'PROJECT'),
  ]) {
    write(folder, file)
  }
  if (output !== 'json')
    for (const { path, action } of plan) out(actionLine(words[action], target({ path, action }), paint))
  for (const line of [...todo(plan), ...missingImports(plan, readText(join(folder, 'src/operator.ts')))]) note(line)
  return plan
}

const words = { create: 'created', update: 'updated', merge: 'merged', offer: 'proposed', keep: 'kept' } as const

function target({ path, action }: Pick<PlannedFile, 'path' | 'action'>): string {
  return action === 'offer' ? `${path}.new` : path
}

function write(folder: string, { path, action, after }: PlannedFile): void {
  if (after === undefined) return
  const file = join(folder, target({ path, action }))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, withEndsOf(readRawText(file), after))
}

/** The changes that the user has to make by hand. */
function todo(plan: readonly PlannedFile[]): string[] {
  return plan.flatMap(({ path, action, hints }) => {
    if (action === 'offer') return [`${path} has changes of yours: merge ${path}.new into it, then delete ${path}.new`]
    return hints.map((hint) => `${path} cannot be changed automatically, please add:\n  ${hint}`)
  })
}

/** Points out new tests that import `operator`, if src/operator.ts exports its operator under another name or from a function. */
function missingImports(plan: readonly PlannedFile[], operator: string | undefined): string[] {
  if (operator === undefined || /export\b[^;=]*\boperator\b(?=[\s:},;=]|$)/.test(operator)) return []
  const importing = plan.filter(
    ({ action, after }) => action === 'create' && after?.includes('import { operator } from'),
  )
  return importing.map(
    ({ path }) => `src/operator.ts exports no "operator": adjust the import of ${path} to the name that it exports`,
  )
}

function diffOf(file: PlannedFile): string[] {
  const { path, action, before, after, hints } = file
  if (after === undefined) return hints.map((hint) => `# ${path}: ${hint}`)
  // A proposed file, FILE.new, is always new. The file of the user stays unchanged.
  const old = action === 'offer' ? undefined : before
  return [
    `--- ${old === undefined ? '/dev/null' : path}`,
    `+++ ${target(file)}`,
    ...textDiff(old ?? '', after),
    ...hints.map((hint) => `# ${path}: ${hint}`),
  ]
}

function summary(plan: readonly PlannedFile[]): string {
  const count = (...actions: PlannedFile['action'][]): number =>
    plan.filter(({ action }) => actions.includes(action)).length
  return `${plural(count('create', 'offer'), 'file')} would be new, ${count('update', 'merge')} would change`
}
