import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { KubewrightError, UsageError } from '@kubewright/base'
import { type AttachedFile, backUpStore, folderProblem } from '@kubewright/storage'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { plural } from '../text/plural.ts'
import type { backupArguments, backupFlags } from './backup-command.ts'
import { assertStore, dataFolder, timeName } from './data-folder.ts'

/** Writes a backup. */
export async function runBackup(
  { flags, args }: CommandInput<typeof backupFlags, typeof backupArguments>,
  context: CommandContext,
): Promise<number> {
  const data = dataFolder(flags.data, context)
  assertStore(flags.data, data)
  const name = args.file ?? `kubewright-${timeName(context.clock.now())}.backup`
  const file = resolve(folderOf(context), name)
  if (existsSync(file) && !flags.force)
    throw new UsageError(`${name} exists: name another file, or replace it with --force`)
  const keys = await filesIn(data.pki)
  try {
    const { revision, entries, bytes } = await backUpStore(data.store, file, keys)
    if (flags.output === 'json')
      context.out(
        JSON.stringify({ file, objects: entries, resourceVersion: revision, keys: keys.length, bytes }, null, 2),
      )
    else context.out(`Wrote ${plural(entries, 'object')} at resource version ${revision} to ${name} (${size(bytes)})`)
    return 0
  } catch (error) {
    const problem = folderProblem(error)
    if (problem === undefined) throw error
    throw new KubewrightError(
      'KW_COMMAND',
      `Cannot write the backup to ${dirname(file)} because ${problem}: choose another file`,
      {
        cause: error,
      },
    )
  }
}

/** The keys of the server. A folder without them belongs to a server that never started. */
async function filesIn(pki: string): Promise<AttachedFile[]> {
  const names = await readdir(pki).catch(() => [])
  const wanted = names.filter((name) => !name.endsWith('.tmp')).sort()
  return Promise.all(wanted.map(async (name) => ({ path: `pki/${name}`, content: await readFile(join(pki, name)) })))
}

function size(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 1024 / 1024).toFixed(1)} MiB`
}
