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
    else if (name === 'plugins') throw new UsageError(pluginCure(inline ?? args[at + 1] ?? ''))
    else if (name === 'project-version') {
      const version = inline ?? args[++at] ?? ''
      if (version !== '3') throw new UsageError(`--project-version must be 3, not "${version}"`)
    } else if (!withoutEffect.includes(name)) kept.push(arg)
  }
  return kept
}

function pluginCure(plugins: string): string {
  if (plugins.includes('deploy-image')) return '--plugins is not needed: create api --image makes such an operator'
  if (plugins.includes('helm')) return '--plugins is not needed: kubewright generate --helm writes the chart'
  if (plugins.includes('grafana')) return '--plugins is not needed: kubewright generate writes grafana/'
  return '--plugins is not needed: what plugins of kubebuilder make is part of the commands'
}
