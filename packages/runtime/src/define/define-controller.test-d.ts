// Types that the compiler must infer for controllers. The sketch has more.
import { condition } from '@kubewright/api'
import { dynamicKind } from '@kubewright/client'
import { ConfigMap, Node } from '@kubewright/k8s'
import { changed } from '../controller/sources/predicates.ts'
import { Home } from '../reconcile/testdata/home.ts'
import { defineController } from './define-controller.ts'
import { owned, watch } from './watched-kinds.ts'

// Enumerations, with and without a parameter, with and without a promise.
defineController(Node, { reconcile: () => ({ status: { phase: 'Running' } }) })
defineController(Node, {
  async reconcile(node, { owned: children }) {
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
defineController(Home, {
  reconcile: () => undefined,
  // @ts-expect-error cleanup cannot return a status
  cleanup: () => ({ status: { readyReplicas: 0 } }),
})
