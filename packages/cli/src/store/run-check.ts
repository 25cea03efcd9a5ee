import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isKubewrightError, UsageError } from '@kubewright/base'
import { checkStore, type Loss, readBackup, repairStore, type StoreCheck } from '@kubewright/storage'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { plural } from '../text/plural.ts'
import type { checkArguments, checkFlags } from './check-command.ts'
import { checkObjects } from './check-objects.ts'
import { defaultData } from './data-flag.ts'
import { assertStore, dataFolder, timeName } from './data-folder.ts'

/** The result of a check, as `--output json` prints it. */
interface CheckResult {
  readonly path: string
  readonly healthy: boolean
  readonly format: number | undefined
  readonly resourceVersion: number | undefined
  readonly objects: number
  readonly bytes: number
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
  readonly notes: readonly string[]
}

/** How many lines of each kind are printed as text. */
const shownLines = 20

/** Verifies a store or a backup. */
export async function runCheck(
  { flags, args }: CommandInput<typeof checkFlags, typeof checkArguments>,
  context: CommandContext,
): Promise<number> {
  const path = args.path ?? defaultData
  const full = resolve(folderOf(context), path)
  if (existsSync(full) && statSync(full).isFile()) {
    if (flags.repair) throw new UsageError(`--repair needs a folder: ${path} is a backup`)
    return report(await checkBackup(full), path, flags.output, context)
  }
  const data = dataFolder(path, context)
  assertStore(path, data)
  if (flags.repair) return repair(path, data.store, flags.output, context)
  return report(await checkFolder(data.store), path, flags.output, context)
}

async function checkFolder(store: string): Promise<CheckResult> {
  const check: StoreCheck = await checkStore(store)
  const { files, state } = check
  const found = checkObjects(state?.entries ?? [])
  const problems = [...check.problems, ...found.problems]
  return {
    path: store,
    healthy: problems.length === 0,
    format: oldestFormat(files),
    resourceVersion: state?.revision,
    objects: found.objects,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    problems,
    warnings: found.warnings,
    notes: check.notes,
  }
}

function oldestFormat(files: StoreCheck['files']): number | undefined {
  return files
    .flatMap(({ format }) => format ?? [])
    .sort((a, b) => a - b)
    .at(0)
}

async function checkBackup(file: string): Promise<CheckResult> {
  const bytes = statSync(file).size
  try {
    const { format, revision, entries } = await readBackup(file)
    const { objects, problems, warnings } = checkObjects(entries)
    const healthy = problems.length === 0
    return { path: file, healthy, format, resourceVersion: revision, objects, bytes, problems, warnings, notes: [] }
  } catch (error) {
    if (!isKubewrightError(error, 'KW_STORAGE_CORRUPT')) throw error
    const problems = [error.message]
    const none = { format: undefined, resourceVersion: undefined, objects: 0 }
    return { path: file, healthy: false, ...none, bytes, problems, warnings: [], notes: [] }
  }
}

function report(result: CheckResult, path: string, output: 'text' | 'json', context: CommandContext): number {
  const { out, note } = context
  const { healthy, problems, warnings, notes, resourceVersion, objects, format } = result
  if (output === 'json') out(JSON.stringify(result, null, 2))
  else {
    for (const [kind, lines] of [
      ['damaged', problems],
      ['warning', warnings],
      ['note', notes],
    ] as const) {
      for (const line of lines.slice(0, shownLines)) note(`${kind}: ${line}`)
      if (lines.length > shownLines) note(`${kind}: ${lines.length - shownLines} more; see --output json`)
    }
    out(
      healthy
        ? `${path} is intact: ${plural(objects, 'object')} at resource version ${resourceVersion}, format ${format}`
        : `${path} is damaged: ${plural(problems.length, 'problem')}`,
    )
    if (!healthy)
      note('Restore a backup with kubewright restore, or rebuild what is complete with kubewright check --repair')
  }
  return healthy ? 0 : 1
}

async function repair(path: string, store: string, output: 'text' | 'json', context: CommandContext): Promise<number> {
  const { out, note, clock } = context
  const repaired = await repairStore(store, `${store}.damaged-${timeName(clock.now())}`)
  if (output === 'json') {
    const losses = repaired?.losses ?? []
    const rest = repaired && {
      objects: repaired.entries,
      resourceVersion: repaired.revision,
      movedTo: repaired.movedTo,
    }
    out(JSON.stringify({ path: store, repaired: repaired !== undefined, losses, ...rest }, null, 2))
    return 0
  }
  if (!repaired) {
    out(`${path} is intact: nothing to repair`)
    return 0
  }
  for (const loss of repaired.losses) for (const line of lossLines(loss)) note(line)
  const lost = repaired.losses.length === 0 ? 'nothing was lost' : 'see the losses above'
  out(`Rebuilt ${path} with ${plural(repaired.entries, 'object')}; ${lost}`)
  note(`The damaged files are in ${repaired.movedTo}`)
  return 0
}

/** Describes a loss. */
function lossLines(loss: Loss): string[] {
  if (loss.kind === 'entries') {
    const { file, count, ranges } = loss
    const many = count === undefined ? 'an unknown number of objects' : plural(count, 'object')
    const where = ranges.map(
      ({ after, before }) => `between ${after ?? 'the first key'} and ${before ?? 'the last key'}`,
    )
    return [`lost: ${many} of ${file}, ${where.join(', ')}`]
  }
  const { after, upTo, keys, why } = loss
  const range =
    upTo === undefined
      ? `after resource version ${after}`
      : after + 1 === upTo
        ? `with resource version ${upTo}`
        : `with resource versions ${after + 1} to ${upTo}`
  const shown = keys.slice(0, shownLines).map((key) => `lost: a change of ${key}`)
  const more =
    keys.length > shownLines ? [`lost: changes of ${keys.length - shownLines} more keys; see --output json`] : []
  return [`lost: the writes ${range}, as ${why}`, ...shown, ...more]
}
