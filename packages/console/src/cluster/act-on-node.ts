import { textOf } from '@kubewright/base'
import type { RestClient } from '@kubewright/client'
import type { PageResponse } from '../wire/messages.ts'
import { type Json, listAt, objectAt } from './json.ts'
import { problemText } from './problem-text.ts'
import { objectPath } from './resource-url.ts'

const pods = { group: '', version: 'v1', plural: 'pods' }
const mirrorAnnotation = 'kubernetes.io/config.mirror'

/** Evicts a pod, as far as its disruption budgets allow it. */
export async function evict(namespace: string, name: string, rest: RestClient): Promise<void> {
  const path = objectPath({ resource: pods, namespace, name }, 'eviction')
  const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } })
  await rest.json({ method: 'POST', path, body })
}

/**
 * Evicts the pods of a node except those of DaemonSets and mirror pods, which would come back at once. The node must be
 * unschedulable already. The response names the pods that could not be evicted.
 */
export async function evictPodsOf(node: string, rest: RestClient): Promise<PageResponse> {
  const query = new URLSearchParams({ fieldSelector: `spec.nodeName=${node}` })
  const found = listAt(await rest.json({ method: 'GET', path: '/api/v1/pods', query }), 'items').filter(isEvictable)
  const problems: string[] = []
  for (const pod of found) {
    const { name, namespace } = objectAt(pod, 'metadata')
    try {
      await evict(textOf(namespace), textOf(name), rest)
    } catch (error) {
      problems.push(`${textOf(namespace)}/${textOf(name)}: ${problemText(error)}`)
    }
  }
  if (problems.length === 0) return {}
  return {
    error: `${problems.length} of ${found.length} pods were not evicted, try again later: ${problems.join('; ')}`,
  }
}

function isEvictable(pod: Json): boolean {
  const metadata = objectAt(pod, 'metadata')
  const isOfDaemonSet = listAt(metadata, 'ownerReferences').some(
    ({ kind, controller }) => kind === 'DaemonSet' && controller === true,
  )
  return !isOfDaemonSet && !(mirrorAnnotation in objectAt(metadata, 'annotations'))
}
