import { isConflict, isNotFound } from '@kubewright/api'
import { Node } from '@kubewright/k8s'
import { type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { planTaints } from './plan-taints.ts'

/** Keeps the taints of nodes in sync with their conditions, so that the scheduler uses only ready nodes. */
export const nodeLifecycleController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'node-lifecycle-controller',
  reporter: 'node-controller',
  kind: Node,
  sources: [kindSource(Node)],
  start:
    ({ clock }) =>
    async (name, { client }) => {
      const node = await client.find(Node, name)
      const taints = node && planTaints(node, clock.now())
      if (node === undefined || taints === undefined) return
      try {
        await client.update({ ...node, spec: { ...node.spec, taints } })
      } catch (error) {
        // Another write came first; its event requeues the node.
        if (!isConflict(error) && !isNotFound(error)) throw error
      }
    },
})
