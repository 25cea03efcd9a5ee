import { ConnectionError } from '@kubewright/client'
import { ConfigMap } from '@kubewright/k8s'
import { defineController, defineOperator, defineWebhook, invalid } from '@kubewright/runtime'
import { configOf, dataOf, ownedConfig, type Planted, plant, rbac, Thing } from './things.ts'

const annotation = 'planted.example.com/size'

/** Mistakes that only one class of faults shows: the clock, restarts of the API server, slow requests, webhooks that are down. */
export const plantedFaults: Readonly<Record<string, Planted>> = {
  'waits for a time of day without checking again': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        reconcile(thing, { now }) {
          const { checked } = thing.status ?? {}
          if (checked === undefined) {
            const due = new Date(now().getTime() + 30_000).toISOString()
            return { status: { checked: due }, requeueAfter: '30s' }
          }
          const left = Date.parse(checked) - now().getTime()
          if (left <= 0) return { status: { checked, phase: 'Ready' } }
          return isFixed ? { requeueAfter: left } : undefined
        },
      }),
    { faults: ['clock'] },
  ),
  'treats an unreachable server as success': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        async reconcile(thing, { apply }) {
          try {
            await apply(configOf(thing, dataOf(thing)))
          } catch (error) {
            if (isFixed || !(error instanceof ConnectionError)) throw error
          }
        },
      }),
    { faults: ['server'] },
  ),
  'gives up on a slow request': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        async reconcile(thing, { client }) {
          if (!isFixed && thing.status?.phase === 'Failed') return undefined
          const draft = ownedConfig(thing, dataOf(thing))
          const done = client.apply(draft, { fieldManager: 'planted', force: true }).then(() => true)
          if (isFixed) await done
          else {
            const late = new Promise<boolean>((resolve) => {
              setTimeout(() => resolve(false), 5000)
            })
            if (!(await Promise.race([done, late]))) return { status: { phase: 'Failed' } }
          }
          return { status: { phase: 'Ready' } }
        },
      }),
    { faults: ['slow'] },
  ),
  'ignores that its webhook cannot be called': plant(
    'end state',
    (isFixed) =>
      defineOperator({
        name: 'planted',
        controllers: [
          defineController(Thing, {
            rbac: [{ apiGroups: ['planted.example.com'], resources: ['things'], verbs: ['patch'] }],
            async reconcile({ metadata: { name, namespace = '', annotations }, spec }, { client }) {
              const size = String(spec.size)
              if (annotations?.[annotation] === size) return
              try {
                await client.patch(Thing, { name, namespace }, { metadata: { annotations: { [annotation]: size } } })
              } catch (error) {
                if (isFixed || !String(error).includes('failed calling webhook')) throw error
              }
            },
          }),
        ],
        webhooks: [
          defineWebhook(Thing, { validate: ({ spec }) => [spec.size > 4 && invalid('spec.size', 'is too large')] }),
        ],
      }),
    { faults: ['webhooks'] },
  ),
}
