import { defineFlags, UsageError } from '@kubewright/base'

const ignored = { hidden: true, help: 'Accepted for compatibility with kubebuilder and ignored' } as const

/**
 * Flags of kubebuilder that have no effect here, because there is no Go, no generated code, and all writes are server-side applies. The
 * commands accept them, so that existing scripts and habits work. A flag for something that is done in another way fails with the fix.
 */
export const kubebuilderFlags = defineFlags({
  make: ignored,
  manifests: ignored,
  'skip-go-version-check': ignored,
  ssa: ignored,
  'project-version': { ...ignored, value: 'VERSION', choices: ['3'] },
  plugins: {
    ...ignored,
    value: 'NAMES',
    repeatable: true,
    parse: (text) => {
      for (const plugin of text.split(',')) checkPlugin(plugin, false)
      return text
    },
  },
})

/** Throws {@link UsageError} for a plugin of kubebuilder whose work is done by a flag or another command. */
export function checkPlugin(plugin: string, hasImage: boolean): void {
  const isDefault = /^(?:[a-z.]*\.)?(?:go|kustomize)(?:\.[a-z.]+)?\/v\d/.test(plugin)
  if (isDefault || (hasImage && isDeployImage(plugin))) return
  throw new UsageError(`--plugins ${plugin} is not supported: ${cureFor(plugin)}`)
}

function isDeployImage(plugin: string): boolean {
  return plugin.startsWith('deploy-image')
}

function cureFor(plugin: string): string {
  if (isDeployImage(plugin)) return 'use kubewright create api --image'
  if (plugin.startsWith('helm')) return 'use kubewright generate --helm'
  if (plugin.startsWith('grafana')) return 'kubewright generate writes grafana/ without it'
  if (plugin.startsWith('autoupdate')) return 'update a project with npm update, then kubewright init --replay'
  return 'leave it out, there are no plugins'
}
