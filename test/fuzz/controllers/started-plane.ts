import { AsyncDisposer } from '@kubewright/base'
import { startControlPlane } from '@kubewright/controlplane'
import { createServerIdentity } from '@kubewright/server'
import type { Target } from '../../conformance/target.ts'

/** Starts a control plane with the built-in controllers and without nodes, that is compared with a reference. */
export async function startComparedPlane(): Promise<AsyncDisposable & { readonly target: Target }> {
  await using parts = new AsyncDisposer()
  const identity = createServerIdentity(Date.now())
  const token = 'test'
  const tokens = [{ token, user: { name: 'admin', groups: ['system:masters'] } }]
  const plane = parts.use(
    await startControlPlane({
      nodes: 0,
      access: { tokens },
      identity,
      // No kubelet reports the state of the nodes.
      controllers: [
        '*',
        '-node-lifecycle-controller',
        '-taint-eviction-controller',
        '-pod-garbage-collector-controller',
      ],
    }),
  )
  const { port } = await plane.listen()
  const owned = parts.move()
  return {
    target: { server: new URL(`https://127.0.0.1:${port}`), ca: identity.ca.cert, token },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}
