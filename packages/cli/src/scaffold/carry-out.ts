import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CommandContext } from '../command/command.ts'
import { actionLine } from '../terminal/action-line.ts'
import { type Paint, paintDiff, painted, plain } from '../terminal/colors.ts'
import { withEndsOf, withUnixEnds } from '../text/line-ends.ts'
import { plural } from '../text/plural.ts'
import { type PlannedFile, planFiles } from './plan-files.ts'
import { type Project, parseProject } from './project.ts'
import type { ScaffoldHost } from './scaffold-host.ts'
import { scaffoldOf } from './scaffold-of.ts'
import { textDiff } from './text-lines.ts'

/** How a change of a project is carried out. */
export interface CarryOutOptions {
  /** Undefined to write every file that is missing, whoever removed it. */
  readonly old: Project | undefined
  readonly next: Project
  /** Which files may lose what the user made of them. */
  readonly force?: (path: string) => boolean
  readonly dryRun?: boolean | undefined
  readonly output?: string | undefined
}

/** Writes what a change of the PROJECT file means for the other files, or shows it as a diff. Resolves with what was planned. */
export function carryOut(
  { old, next, force, dryRun = false, output }: CarryOutOptions,
  { folder, hasColors }: Pick<ScaffoldHost, 'folder' | 'hasColors'>,
  { out, note }: Pick<CommandContext, 'out' | 'note'>,
): PlannedFile[] {
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
  const paint: Paint = hasColors ? painted : plain
  if (dryRun) {
    if (output !== 'json') for (const file of plan) for (const line of diffOf(file)) out(paintDiff(line, paint))
    note(`Nothing was written: ${summary(plan)}`)
    return plan
  }
  // PROJECT comes first in the scaffold, and is written last: until then the command can simply be repeated.
  for (const file of [
    ...plan.filter(({ path }) => path !== 'PROJECT'),
    ...plan.filter(({ path }) => path === 'PROJECT'),
  ]) {
    write(folder, file)
  }
  if (output !== 'json')
    for (const { path, action } of plan) out(actionLine(words[action], target({ path, action }), paint))
  for (const line of [...todo(plan), ...renamed(plan, readText(join(folder, 'src/operator.ts')))]) note(line)
  return plan
}

/** Reads the PROJECT file of a folder; undefined when there is none. */
export function readProject(folder: string): Project | undefined {
  const text = readText(join(folder, 'PROJECT'))
  return text === undefined ? undefined : parseProject(text)
}

const words = { create: 'created', update: 'updated', merge: 'merged', offer: 'offered', keep: 'kept' } as const

function target({ path, action }: Pick<PlannedFile, 'path' | 'action'>): string {
  return action === 'offer' ? `${path}.new` : path
}

function write(folder: string, { path, action, after }: PlannedFile): void {
  if (after === undefined) return
  const file = join(folder, target({ path, action }))
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, withEndsOf(rawText(file), after))
}

/** What is left to the user. */
function todo(plan: readonly PlannedFile[]): string[] {
  return plan.flatMap(({ path, action, hints }) => {
    if (action === 'offer')
      return [`${path} has changes of yours: take over from ${path}.new what you want, and delete it`]
    return hints.map((hint) => `${path} is not written as expected, so please add:\n  ${hint}`)
  })
}

/** What is left to users who gave the operator another name, or made it a function: new tests do not know that. */
function renamed(plan: readonly PlannedFile[], operator: string | undefined): string[] {
  if (operator === undefined || /export\b[^;=]*\boperator\b(?=[\s:},;=]|$)/.test(operator)) return []
  const importing = plan.filter(
    ({ action, after }) => action === 'create' && after?.includes('import { operator } from'),
  )
  return importing.map(({ path }) => `src/operator.ts exports no operator: import in ${path} what it is called there`)
}

function diffOf(file: PlannedFile): string[] {
  const { path, action, before, after, hints } = file
  if (after === undefined) return hints.map((hint) => `# ${path}: ${hint}`)
  // What is offered stands beside the file, and differs from nothing.
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

/** Lines end as in the scaffold: that git or an editor wrote them in another way is no change of the user's. */
function readText(file: string): string | undefined {
  const text = rawText(file)
  return text === undefined ? undefined : withUnixEnds(text)
}

function rawText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
