import { isNotFound, parseKey } from '@kubewright/api'
import { Job } from '@kubewright/k8s'
import { type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { knownTime } from '../workload/known-time.ts'
import { finishTime } from './job-conditions.ts'

/** The delay until a finished job expires, in milliseconds; undefined when it does not expire. */
export function expiresIn(job: Job, now: number): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec
  const finished = knownTime(finishTime(job))
  if (ttlSecondsAfterFinished === undefined || finished === undefined) return undefined
  if (job.metadata.deletionTimestamp !== undefined) return undefined
  return Math.max(0, finished + ttlSecondsAfterFinished * 1000 - now)
}

/** Deletes finished jobs when `ttlSecondsAfterFinished` has passed. */
export const ttlAfterFinishedController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'ttl-after-finished-controller',
  kind: Job,
  concurrency: 5,
  sources: [kindSource(Job)],
  start:
    ({ clock, cluster }) =>
    async (key, { client }) => {
      const { name, namespace = '' } = parseKey(key)
      const cached = await client.find(Job, { namespace, name })
      const wait = cached && expiresIn(cached, clock.now())
      if (wait === undefined) return undefined
      if (wait > 0) return { requeueAfter: wait }
      // The cached job may be stale: a user may have extended its TTL.
      const job = await cluster.api.find(Job, { namespace, name })
      const left = job && expiresIn(job, clock.now())
      if (job === undefined || left === undefined) return undefined
      if (left > 0) return { requeueAfter: left }
      try {
        const { uid } = job.metadata
        await client.delete(Job, { namespace, name }, { propagationPolicy: 'Foreground', preconditions: { uid } })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
      return undefined
    },
})
