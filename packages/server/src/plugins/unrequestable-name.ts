import { goQuote, isPathSegmentName } from '@kubewright/base'

/**
 * Why a client of kube-apiserver cannot request an object of this name; undefined if it can. Plugins that request a missing object again
 * fail with this error (client-go/rest, Request.Name).
 */
export function unrequestableName(name: string): string | undefined {
  if (name === '') return 'resource name may not be empty'
  const problems = isPathSegmentName(name, false)
  return problems.length === 0 ? undefined : `invalid resource name ${goQuote(name)}: [${problems.join(' ')}]`
}
