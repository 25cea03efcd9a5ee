import { parseGroupVersion, parseManifests, parseYaml } from '@kubewright/api'
import { UsageError } from '@kubewright/base'
import type { OperatorDescription } from './operator-description.ts'
import { sampleOf, sampleProblems } from './sample-of.ts'

type Texts = ReadonlyMap<string, string>

/**
 * Example objects of the resources of an operator: those in config/samples, and generated ones for served versions without one, as catalogs
 * expect an example of each version.
 */
export function examplesOf({ name, resources }: OperatorDescription, present: Texts): object[] {
  const written: { readonly apiVersion: string; readonly kind: string }[] = []
  for (const [path, text] of present) {
    if (!/^config\/samples\/[^/]+\.ya?ml$/.test(path) || path.endsWith('/kustomization.yaml')) continue
    written.push(...(parseManifests(text) as typeof written))
  }
  return resources.flatMap(({ crd }) => {
    const { group, names } = crd.spec
    const own = written.filter(
      ({ apiVersion, kind }) => kind === names.kind && parseGroupVersion(apiVersion).group === group,
    )
    const isShown = (version: string): boolean => own.some(({ apiVersion }) => apiVersion === `${group}/${version}`)
    const missing = crd.spec.versions.filter(({ name: version, served }) => served && !isShown(version))
    const made = missing.map(({ name: version }) => sampleOf(crd, name, version))
    // A generated example that the rules of the CRD reject is worse than none, unless there is no other.
    const valid = made.filter((sample) => sampleProblems(crd, sample).length === 0)
    const examples = [...own, ...valid]
    return examples.length > 0 ? examples : [sampleOf(crd, name)]
  })
}

/** The channels of the flags, else those of the existing bundle. */
export function channelsOf(
  flags: { readonly channels?: string | undefined; readonly 'default-channel'?: string | undefined },
  present: Texts,
): { channels?: readonly string[] | undefined; defaultChannel?: string | undefined } {
  const text = present.get('bundle/metadata/annotations.yaml')
  const { annotations = {} } = (text === undefined ? {} : parseYaml(text)) as {
    annotations?: Record<string, string | undefined> | undefined
  }
  const known = annotations['operators.operatorframework.io.bundle.channels.v1']
  const channels = (flags.channels ?? known)?.split(',').map((channel) => channel.trim())
  const wrong = [...(channels ?? []), flags['default-channel'] ?? 'alpha'].find((channel) => !/^[\w.-]+$/.test(channel))
  if (wrong !== undefined)
    throw new UsageError(`--channels and --default-channel must be words such as "alpha" or "stable", not "${wrong}"`)
  const kept =
    flags.channels === undefined ? annotations['operators.operatorframework.io.bundle.channel.default.v1'] : undefined
  const defaultChannel = flags['default-channel'] ?? kept
  return {
    ...(channels === undefined ? {} : { channels }),
    ...(defaultChannel === undefined ? {} : { defaultChannel }),
  }
}
