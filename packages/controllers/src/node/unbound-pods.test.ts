import type { Pod } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { UnboundPods } from './unbound-pods.ts'

function pod(uid: string, version = '1', more: { readonly spec?: object; readonly status?: object } = {}): Pod {
  const metadata = { name: uid, namespace: 'a', uid, resourceVersion: version }
  return { metadata, spec: { containers: [], ...more.spec }, status: { ...more.status } } as unknown as Pod
}

const all = (): boolean => true
const uids = (pods: Iterable<Pod>): string[] => [...pods].map(({ metadata }) => metadata.uid)

describe('UnboundPods', () => {
  test('take() returns each new version of a pod without a node once', () => {
    const queue = new UnboundPods()
    queue.see(pod('a'))
    queue.see(pod('b', '2', { spec: { nodeName: 'n' } }))
    queue.see(pod('c', '3', { spec: { schedulerName: 'other' } }))
    expect(uids(queue.take(all))).toEqual(['a'])
    expect(uids(queue.take(all))).toEqual([])
    queue.see(pod('a', '4'))
    expect(uids(queue.take(all))).toEqual(['a'])
    queue.see(pod('a', '5'))
    queue.see(pod('a', '6', { spec: { nodeName: 'n' } }))
    expect(uids(queue.take(all))).toEqual([])
  })

  test('a refused pod is due again when it changes or is reconsidered, not when the watch shows the refusal', () => {
    const queue = new UnboundPods()
    queue.see(pod('a'))
    queue.take(all)
    queue.refuse(pod('a', '2'))
    queue.see(pod('a', '2'))
    expect(uids(queue.take(all))).toEqual([])
    expect(queue.reconsider(() => false)).toBe(false)
    expect(queue.reconsider()).toBe(true)
    expect(queue.reconsider()).toBe(false)
    // The status of the refusal, which the watch may not have shown.
    expect(queue.take(all).map(({ metadata }) => metadata.resourceVersion)).toEqual(['2'])
    queue.refuse(pod('a', '2'))
    queue.see(pod('a', '3'))
    expect(uids(queue.take(all))).toEqual(['a'])
  })

  test('restore() makes the pods of a failed pass due again, except for those that are gone', () => {
    const queue = new UnboundPods()
    for (const uid of ['a', 'b']) queue.see(pod(uid))
    const taken = queue.take(all)
    queue.forget('b')
    queue.restore(taken)
    expect(uids(queue.take(all))).toEqual(['a'])
  })

  test('waiting pods are due in each pass, and forgotten with the pod', () => {
    const queue = new UnboundPods()
    queue.see(pod('a'))
    queue.waiting.add('a')
    queue.nominations.set('a', 'n')
    expect([uids(queue.take(all)), uids(queue.take(all))]).toEqual([['a'], ['a']])
    queue.forget('a')
    expect([uids(queue.take(all)), queue.waiting.size, queue.nominations.size]).toEqual([[], 0, 0])
  })

  test('nominated() returns the pods with a node in their status, or nominated since', () => {
    const queue = new UnboundPods()
    queue.see(pod('a', '1', { status: { nominatedNodeName: 'n' } }))
    queue.see(pod('b'))
    queue.see(pod('c'))
    queue.nominations.set('b', 'm')
    expect([...queue.nominated()].map((one) => queue.nominationOf(one)).sort()).toEqual(['m', 'n'])
    queue.see(pod('a', '2'))
    expect(uids(queue.nominated())).toEqual(['b'])
  })
})
