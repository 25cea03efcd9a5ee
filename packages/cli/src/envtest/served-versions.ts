import { kubernetes, releaseVersions } from '@kubewright/k8s/releases'
import { compareVersions } from './version-selector.ts'

/** The versions such as `1.36.4` whose API servers this installation has, newest first. */
export async function servedVersions(): Promise<readonly string[]> {
  const releases = await Promise.all(releaseVersions.map((version) => kubernetes(version)))
  return releases.map(({ gitVersion }) => gitVersion.slice('v'.length)).sort((a, b) => compareVersions(b, a))
}
