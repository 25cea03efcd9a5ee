// Types that the compiler must infer for controllers. The sketch has more.
import { condition, defineResource, type Infer, parseQuantity } from '@kubewright/api'
import { dynamicKind } from '@kubewright/client'
import { ConfigMap, Node } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { can } from '../controller/access-rule.ts'
import { changed } from '../controller/sources/predicates.ts'
import { bucketRateLimiter, withJitter } from '../queue/rate-limiter.ts'
import { Home } from '../reconcile/testdata/home.ts'
import type { Context } from './context.ts'
import { type Controller, defineController } from './define-controller.ts'
import { defineOperator } from './define-operator.ts'
import { defineWebhook, type Review } from './define-webhook.ts'
import { invalid } from './issue.ts'
import { owned, watch } from './watched-kinds.ts'

// Enumerations, with and without a parameter, with and without a promise.
defineController(Node, { reconcile: () => ({ status: { phase: 'Running' } }) })
defineController(Node, {
  async reconcile(node, { children }) {
    await children(ConfigMap)
    return { status: { phase: 'Running', conditions: [{ type: 'Ready', status: node.spec ? 'True' : 'False' }] } }
  },
})
// A status with some of its fields.
defineController(Home, { reconcile: async () => ({ status: { readyReplicas: 1 } }) })
defineController(Home, { reconcile: () => ({ status: { conditions: [condition('Ready', true, 'Serving')] } }) })
// Values that were read, and optional fields.
defineController(Home, {
  reconcile: ({ status }) => ({ status: { readyReplicas: status?.readyReplicas, conditions: status?.conditions } }),
})
defineController(Home, { reconcile: ({ status }) => ({ status: { ...status, readyReplicas: 2 } }) })
// Kinds without a status, and dynamic kinds.
defineController(ConfigMap, { async reconcile() {} })
defineController(dynamicKind({ group: 'a.example.com', version: 'v1', kind: 'A', plural: 'as' }), {
  reconcile: (object) => ({ status: { echo: object['spec'] } }),
})
// Objects are typed in predicates and mappings.
defineController(Home, {
  predicates: [changed('spec'), { update: (before, after) => before.spec.image !== after.spec.image }],
  owns: [ConfigMap, owned(Node, { predicates: [{ add: (node) => node.spec?.unschedulable === true }] })],
  watches: [watch(ConfigMap, async (map, { client }) => client.list(Home).then(() => [map.data?.['home'] ?? '']))],
  reconcile: () => undefined,
})

// @ts-expect-error not a value of the enumeration
defineController(Node, { reconcile: () => ({ status: { phase: 'Runing' } }) })
// @ts-expect-error not a field of the status
defineController(Home, { reconcile: () => ({ status: { readyReplica: 1 } }) })
// @ts-expect-error not a field of the status, beside one that is
defineController(Home, { reconcile: async () => ({ status: { readyReplicas: 1, readyReplica: 1 } }) })
// @ts-expect-error not a field of an outcome
defineController(Home, { reconcile: async ({ spec }) => ({ requeueafter: spec.replicas }) })
// A status in the middle of a reconcile, of a clean-up and of a failure; helpers take any context.
const note = (context: Context): void => context.event('Normal', 'Noted', '', { action: 'Note', about: undefined })
defineController(Home, {
  rateLimiter: ({ clock, random }) => withJitter(bucketRateLimiter({ clock }), random),
  rbac: [can(ConfigMap, 'delete', 'list')],
  async reconcile(_, context) {
    note(context)
    const { mergeStatus } = context
    await mergeStatus({ readyReplicas: 1, conditions: [condition('Ready', false, 'Starting')] })
    await mergeStatus({ conditions: [condition('Reachable', true, 'Answers')] })
    // @ts-expect-error not a field of the status
    await mergeStatus({ readyReplica: 1 })
    // @ts-expect-error not a declared condition
    await mergeStatus({ conditions: [condition('Reachabel', true, 'Answers')] })
    return { mergeStatus: { readyReplicas: undefined }, requeueAfter: undefined, prune: undefined }
  },
  cleanup: () => ({ status: { readyReplicas: 0 }, requeueAfter: '1h30m' }),
  onError: (home, error) => ({
    mergeStatus: { conditions: [condition('Ready', false, 'Failed', `${home.spec.image}: ${error.message}`)] },
  }),
})
// @ts-expect-error not a field of the status
defineController(Home, {
  reconcile: () => undefined,
  cleanup: () => ({ status: { readyReplica: 0 } }),
})
// @ts-expect-error not a field of the status
defineController(Home, {
  reconcile: () => undefined,
  onError: () => ({ mergeStatus: { readyReplica: 0 } }),
})
// @ts-expect-error a failure changes some fields of the status
defineController(Home, {
  reconcile: () => undefined,
  onError: () => ({ status: { readyReplicas: 0 } }),
})
// @ts-expect-error not a verb
can(ConfigMap, 'remove')

// A duration that was read is a `requeueAfter`, and a quantity that was read can be parsed.
const Job = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Job',
  spec: s.object({ every: s.duration(), memory: s.quantity(), timeout: s.duration().optional() }),
})
Job({ metadata: { name: 'a' }, spec: { every: String('90m'), memory: 1024 } })
defineController(Job, {
  reconcile({ spec }) {
    parseQuantity(spec.memory)
    return { requeueAfter: spec.timeout ?? spec.every }
  },
})
defineController(Job, { reconcile: ({ spec }) => ({ requeueAfter: spec.timeout }) })

// Unit tests call the functions of a definition with the types of its kind; lists take controllers of any kind.
const typed = defineController(Home, { reconcile: ({ spec }) => ({ status: { readyReplicas: spec.replicas } }) })
declare const home: Infer<typeof Home>
declare const context: Context
const outcome = await typed.reconcile(home, context)
outcome?.status?.readyReplicas?.toFixed()
const controllers: readonly Controller[] = [typed, defineController(ConfigMap, { reconcile: () => undefined })]
defineOperator({ name: 'homes', controllers })
// @ts-expect-error not a Home
await typed.reconcile({ metadata: { name: 'a' } }, context)

const hook = defineWebhook(Home, {
  default: (draft) => void (draft.spec.domain ??= 'a.example.com'),
  validate: ({ spec }) => [spec.replicas > 9 && invalid('spec.replicas', 'too many', spec.replicas)],
})
declare const review: Review<Infer<typeof Home>>
await hook.default(Home({ metadata: { name: 'a' }, spec: { image: 'a' } }), review)
const issues = await hook.validate(home, review)
issues.filter(Boolean).length.toFixed()
// @ts-expect-error not a Home
await hook.validate({ metadata: { name: 'a' } }, review)
// The type that the caller expects does not change the inference.
defineOperator({
  name: 'nodes',
  controllers: [defineController(Node, { reconcile: () => ({ status: { phase: 'Running' } }) })],
})
