import { findCondition, fromTime, isConflict, isNotFound, toTime } from '@kubewright/api'
import { IPAddress, ServiceCIDR } from '@kubewright/k8s'
import { type KeyContext, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isInUse } from './ranges-in-use.ts'

const finalizer = 'networking.k8s.io/service-cidr-finalizer'
// Until then allocators may still use a range that is being deleted.
const deletionGrace = 10_000

const allRanges = async ({ client }: Pick<KeyContext, 'client'>): Promise<string[]> =>
  (await client.list(ServiceCIDR)).map(({ metadata: { name } }) => name)

/** Protects ServiceCIDRs from deletion while Services have addresses of theirs, and sets their condition Ready. */
export const serviceCidrController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'service-cidr-controller',
  kind: ServiceCIDR,
  sources: [
    // A range may be deleted once another one contains it.
    kindSource(ServiceCIDR, {
      map: async ({ metadata }, { client }) => [metadata.name, ...(await allRanges({ client }))],
    }),
    // Only a deleted address can make a difference, for a range that is being deleted.
    kindSource(IPAddress, {
      predicates: [{ add: () => false, update: () => false }],
      map: (_, { client }) => allRanges({ client }),
    }),
  ],
  start:
    ({ clock }) =>
    async (name, context) => {
      const { client } = context
      const range = await client.find(ServiceCIDR, name)
      if (range === undefined) return undefined
      const { deletionTimestamp, finalizers = [] } = range.metadata
      const now = clock.now()
      try {
        if (deletionTimestamp === undefined) {
          if (!finalizers.includes(finalizer)) await setFinalizers(context, range, [...finalizers, finalizer])
          await setReady(context, range, now, {
            status: 'True',
            reason: '',
            message: 'Kubernetes Service CIDR is ready',
          })
          return undefined
        }
        if (!finalizers.includes(finalizer)) return undefined
        if (isInUse(range, await client.list(ServiceCIDR), await client.list(IPAddress))) {
          const message =
            'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR'
          await setReady(context, range, now, { status: 'False', reason: 'Terminating', message })
          return undefined
        }
        const left = fromTime(deletionTimestamp) + deletionGrace - now
        if (left > 0) return { requeueAfter: left }
        await setFinalizers(
          context,
          range,
          finalizers.filter((one) => one !== finalizer),
        )
      } catch (error) {
        if (!isNotFound(error) && !isConflict(error)) throw error
      }
      return undefined
    },
})

async function setFinalizers({ client }: KeyContext, { metadata }: ServiceCIDR, finalizers: string[]): Promise<void> {
  const { name, resourceVersion } = metadata
  await client.patch(ServiceCIDR, name, { metadata: { finalizers, resourceVersion } })
}

async function setReady(
  { client }: KeyContext,
  range: ServiceCIDR,
  now: number,
  condition: { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string },
): Promise<void> {
  // The condition of the default range has another message, which stays.
  if (findCondition(range.status?.conditions, 'Ready')?.status === condition.status) return
  const conditions = [{ type: 'Ready', ...condition, lastTransitionTime: toTime(now) }]
  await client
    .subresource(ServiceCIDR, 'status')
    .patch(range.metadata.name, { status: { conditions } }, { type: 'strategic' })
}
