import type { AnyKind } from '@kubewright/api'
import { Node } from '@kubewright/k8s'

/**
 * Cache options for a cluster that runs the built-in controllers. Every pod event leads to reads of its node, so the nodes of
 * large clusters stay parsed. No controller reads managed fields, as in kube-controller-manager, and an update without them keeps them.
 */
export const controllerCache: {
  readonly byKind: readonly { readonly kind: AnyKind; readonly hotObjects: number }[]
  readonly dropManagedFields: boolean
} = /* @__PURE__ */ Object.freeze({ byKind: [{ kind: Node, hotObjects: 20_000 }], dropManagedFields: true })
