import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import type { listFlags, versionArgument } from './envtest-command.ts'
import { openStore } from './open-store.ts'
import { servedVersions } from './served-versions.ts'
import { versionSelector } from './version-selector.ts'

/** Prints the installed and the available versions, newest first. */
export async function runList(
  { flags, args }: CommandInput<typeof listFlags, typeof versionArgument>,
  context: CommandContext,
): Promise<number> {
  const { store, platform } = openStore(flags['bin-dir'], context)
  const fits = versionSelector(args.version)
  const print = (state: string, versions: readonly string[]): void => {
    for (const version of versions.filter(fits)) context.out(`(${state})  v${version}  ${platform.os}/${platform.arch}`)
  }
  print('installed', store.installed())
  if (!flags['installed-only']) print('available', await servedVersions())
  return 0
}
