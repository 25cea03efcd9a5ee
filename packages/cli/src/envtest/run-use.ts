import { KubewrightError } from '@kubewright/base'
import type { CommandInput } from '../command/command.ts'
import type { CommandContext } from '../command/command-context.ts'
import { apiServerFlagNames } from './api-server-arguments.ts'
import type { useFlags, versionArgument } from './envtest-command.ts'
import { launchers, quoted } from './launchers.ts'
import { openStore } from './open-store.ts'
import { servedVersions } from './served-versions.ts'
import { versionSelector } from './version-selector.ts'

/** Writes the programs of a version, unless only installed ones are wanted, and prints their folder as setup-envtest does. */
export async function runUse(
  { flags, args }: CommandInput<typeof useFlags, typeof versionArgument>,
  context: CommandContext,
): Promise<number> {
  const { envtestProgram, out } = context
  if (envtestProgram === undefined)
    throw new KubewrightError('KW_COMMAND', 'Only the program kubewright can write programs for envtest')
  const { store, platform } = openStore(flags['bin-dir'], context)
  const isInstalledOnly = flags['installed-only'] || args.version === 'latest-on-disk'
  const known = isInstalledOnly ? store.installed() : await servedVersions()
  const version = newest(args.version, known)
  if (version === undefined) {
    const listed = known.length === 0 ? 'none is' : `${known.join(', ')} are`
    throw new KubewrightError(
      'KW_COMMAND',
      `No version fits ${args.version ?? 'latest'}: ${listed} ${isInstalledOnly ? 'installed' : 'available'}`,
    )
  }
  // Also for an installed version: its programs may run another installation of kubewright.
  if (!isInstalledOnly) store.write(version, launchers(envtestProgram, version, apiServerFlagNames))
  const path = store.path(version)
  if (flags.print === 'path') out(path)
  else if (flags.print === 'env') out(`export KUBEBUILDER_ASSETS=${quoted(path)}`)
  else
    for (const line of [`Version: ${version}`, `OS/Arch: ${platform.os}/${platform.arch}`, `Path: ${path}`]) out(line)
  return 0
}

function newest(text: string | undefined, versions: readonly string[]): string | undefined {
  const fitting = versions.filter(versionSelector(text))
  // Release candidates only if nothing else fits.
  return fitting.find((version) => !version.includes('-')) ?? fitting[0]
}
