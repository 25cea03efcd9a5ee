import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { cleanupFlags, versionArgument } from './envtest-command.ts'
import { openStore } from './open-store.ts'
import { versionSelector } from './version-selector.ts'

/** Removes the folders of the installed versions that the argument selects. */
export async function runCleanup(
  { flags, args }: CommandInput<typeof cleanupFlags, typeof versionArgument>,
  context: CommandContext,
): Promise<number> {
  const { store, platform } = openStore(flags['bin-dir'], context)
  for (const version of store.installed().filter(versionSelector(args.version))) {
    store.remove(version)
    context.out(`removed ${version} (${platform.os}/${platform.arch})`)
  }
  return 0
}
