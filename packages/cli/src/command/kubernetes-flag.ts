import { defineFlags, UsageError } from '@kubewright/base'
import type { Release } from '@kubewright/k8s/releases'

/** The flag that selects a release of Kubernetes. */
export const kubernetesFlag = defineFlags({
  kubernetes: {
    value: 'VERSION',
    defaultText: 'the newest stable one',
    help: 'Use the API server of this minor release of Kubernetes, such as 1.36',
  },
})

/** The release that the flag names. Throws {@link UsageError} if it is not supported. */
export async function releaseOf(version: string | undefined): Promise<Release> {
  const { kubernetes } = await import('@kubewright/k8s/releases')
  try {
    return await kubernetes(version)
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(`--kubernetes: ${error.message}`) : error
  }
}
