import { type DeepReadonly, goSecondsToMillis } from '@kubewright/base'
import type { Taint, Toleration } from '@kubewright/k8s'
import { tolerates } from '../workload/node-fit.ts'

/**
 * How long a pod may stay on a node with these taints, in milliseconds: 0 when a NoExecute taint is not tolerated,
 * undefined when there is no limit. Of the tolerations that match, the shortest counts.
 */
export function staysFor(
  taints: readonly DeepReadonly<Taint>[] | undefined,
  tolerations: readonly DeepReadonly<Toleration>[] | undefined,
): number | undefined {
  let shortest: number | undefined
  for (const taint of taints ?? []) {
    if (taint.effect !== 'NoExecute') continue
    const toleration = tolerations?.find((one) => tolerates(one, taint))
    if (toleration === undefined) return 0
    const { tolerationSeconds } = toleration
    if (tolerationSeconds === undefined) continue
    const millis = tolerationSeconds < 0 ? 0 : goSecondsToMillis(tolerationSeconds)
    // More seconds than a duration of Go holds are forever.
    if (millis >= 0) shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, millis)
  }
  return shortest
}
