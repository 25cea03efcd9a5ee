import { UsageError } from '@kubewright/base'
import type { Release } from '@kubewright/k8s/releases'

/** Whether a server serves a built-in resource. */
export type ServesResource = (group: string, version: string, resource: string) => boolean

/** The parsed `--runtime-config`, and what it asks for that this server does not have. */
export interface RuntimeConfig {
  readonly serves: ServesResource
  readonly warnings: readonly string[]
}

const classes: Readonly<Record<string, (version: string) => boolean>> = {
  'api/all': () => true,
  'api/ga': (version) => /^v\d+$/.test(version),
  'api/beta': (version) => version.includes('beta'),
  'api/alpha': (version) => version.includes('alpha'),
}

/**
 * Resolves `--runtime-config`. The more specific key wins: a resource, then a group version, then `api/ga`, `api/beta` and `api/alpha`, then
 * `api/all` (apiserver/pkg/server/resourceconfig). Throws {@link UsageError} for groups that Kubernetes does not have.
 */
export function runtimeConfig(release: Release, switches: ReadonlyMap<string, boolean>): RuntimeConfig {
  const served = new Set<string>()
  const groups = new Set<string>()
  for (const { group, versions } of release.groups) {
    groups.add(group)
    for (const { version, resources } of versions) {
      served.add(keyOf(group, version))
      for (const { resource } of resources) served.add(`${keyOf(group, version)}/${resource}`)
    }
  }
  const warnings: string[] = []
  const exact = new Map<string, boolean>()
  for (const [given, value] of switches) {
    if (Object.hasOwn(classes, given)) continue
    // kube-apiserver also accepts api/v1 for the core group.
    const key = given.replace(/^api\/(?=v\d)/, '')
    const isCore = /^v\d+(\/|$)/.test(key)
    if (!groups.has(isCore ? '' : key.split('/', 1)[0]!))
      throw new UsageError(`--runtime-config: unknown api groups ${given}`)
    if (key === 'v1' && !value) throw new UsageError('--runtime-config: v1 cannot be turned off')
    if (value && !served.has(key))
      warnings.push(`--runtime-config ${given}=true has no effect: this server does not have ${key}`)
    exact.set(key, value)
  }
  for (const name of ['api/beta', 'api/alpha']) {
    if (switches.get(name))
      warnings.push(`--runtime-config ${name}=true has no effect: this server has the versions that are on by default`)
  }
  const serves: ServesResource = (group, version, resource) => {
    const key = keyOf(group, version)
    const own = exact.get(`${key}/${resource}`) ?? exact.get(key)
    if (own !== undefined) return own
    if (key === 'v1') return true
    for (const name of ['api/ga', 'api/beta', 'api/alpha', 'api/all']) {
      const value = switches.get(name)
      if (value !== undefined && classes[name]!(version)) return value
    }
    return true
  }
  return { serves, warnings }
}

function keyOf(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}
