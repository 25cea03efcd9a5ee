import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { UsageError } from '@kubewright/base'
import { type AttachedFile, readBackup, restoreStore, writePrivateFile } from '@kubewright/storage'
import type { CommandInput } from '../command/command.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { plural } from '../text/plural.ts'
import { withFolder } from '../up/with-folder.ts'
import { type DataFolder, dataFolder, timeName } from './data-folder.ts'
import type { restoreArguments, restoreFlags } from './restore-command.ts'

/** Restores a backup. */
export async function runRestore(
  { flags, args }: CommandInput<typeof restoreFlags, typeof restoreArguments>,
  context: CommandContext,
): Promise<number> {
  const file = resolve(folderOf(context), args.file)
  if (!existsSync(file)) throw new UsageError(`${args.file} does not exist: name a file that kubewright backup wrote`)
  // All of it, before anything is changed.
  const backup = await readBackup(file)
  const data = dataFolder(flags.data, context)
  const suffix = `replaced-${timeName(context.clock.now())}`
  const moved = existsSync(data.store) && flags.force ? `${data.store}.${suffix}` : undefined
  const { revision } = await withFolder(
    { purpose: 'restore into', path: data.path, fix: 'choose another folder with --data DIR' },
    () =>
      restoreStore(data.store, backup, {
        ...(flags.force ? { moveTo: `${data.store}.${suffix}` } : {}),
        beforeReady: () => restoreKeys(data, backup.attached, suffix),
      }),
  )
  const objects = backup.entries.length
  if (flags.output === 'json') {
    const result = { data: data.path, objects, backupResourceVersion: backup.revision, resourceVersion: revision }
    context.out(JSON.stringify({ ...result, keys: backup.attached.length }, null, 2))
  } else context.out(`Restored ${plural(objects, 'object')} of resource version ${backup.revision} to ${flags.data}`)
  if (moved !== undefined && existsSync(moved)) context.note(`The previous files are in ${moved}`)
  return 0
}

/** Writes the keys, while the store is locked and cannot be opened. */
async function restoreKeys({ pki }: DataFolder, attached: readonly AttachedFile[], suffix: string): Promise<void> {
  const keys = attached.filter(({ path }) => path.startsWith('pki/'))
  if (keys.length === 0) return
  if (existsSync(pki)) await rename(pki, `${pki}.${suffix}`)
  // The base name: a path in a file that others may have made must not lead elsewhere.
  for (const { path, content } of keys)
    await writePrivateFile(join(pki, basename(path)), Buffer.from(content).toString('utf8'))
}
