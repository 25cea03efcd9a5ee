import { UsageError } from '../usage-error.ts'
import type { FlagTable } from './read-flags.ts'

// What kubebuilder's commands take and there is nothing to say about here: no Go, no generated code, and server-side apply always.
const withoutEffect: readonly string[] = ['make', 'manifests', 'skip-go-version-check', 'ssa']

/**
 * Leaves out flags of kubebuilder that have no effect here, so that what people and scripts are used to works. Throws
 * {@link UsageError} for those that name something which is done in another way.
 */
export function withoutKubebuilderFlags(args: readonly string[], table: FlagTable): string[] {
  const kept: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    const [, name = '', inline] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? []
    if (Object.hasOwn(table, name)) kept.push(arg)
    else if (name === 'plugins') {
      for (const plugin of (inline ?? args[++at] ?? '').split(',')) checkPlugin(plugin, args)
    } else if (name === 'project-version') {
      const version = inline ?? args[++at] ?? ''
      if (version !== '3') throw new UsageError(`--project-version must be 3, not "${version}"`)
    } else if (!withoutEffect.includes(name)) kept.push(arg)
  }
  return kept
}

/** What plugins of kubebuilder make is part of the commands: those that would change nothing may be named. */
function checkPlugin(plugin: string, args: readonly string[]): void {
  if (/^(?:[a-z.]*\.)?(?:go|kustomize)(?:\.[a-z.]+)?\/v\d/.test(plugin)) return
  if (plugin.startsWith('deploy-image') && args.some((arg) => /^--image(?:=|$)/.test(arg))) return
  throw new UsageError(`--plugins is not needed: ${cureFor(plugin)}`)
}

function cureFor(plugin: string): string {
  if (plugin.startsWith('deploy-image')) return 'create api --image makes such an operator'
  if (plugin.startsWith('helm')) return 'kubewright generate --helm writes the chart'
  if (plugin.startsWith('grafana')) return 'kubewright generate writes grafana/'
  if (plugin.startsWith('autoupdate')) return 'npm update, then kubewright init --replay, brings a project up to date'
  return 'what plugins of kubebuilder make is part of the commands'
}
