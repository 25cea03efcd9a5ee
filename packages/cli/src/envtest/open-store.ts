import { join, resolve } from 'node:path'
import { UsageError } from '@kubewright/base'
import { cacheFolder } from '../command/cache-folder.ts'
import { type CommandContext, folderOf } from '../command/command-context.ts'
import { AssetStore, type Platform, thisPlatform } from './asset-store.ts'

/** The store of `--bin-dir`, and the platform of its programs. */
export function openStore(
  binDir: string | undefined,
  context: CommandContext,
): { readonly store: AssetStore; readonly platform: Platform } {
  const platform = thisPlatform()
  if (binDir === '') throw new UsageError('--bin-dir must be the name of a folder, not ""')
  const folder = binDir === undefined ? join(cacheFolder(context.env, process.platform), 'envtest') : binDir
  return { store: new AssetStore(resolve(folderOf(context), folder), platform), platform }
}
