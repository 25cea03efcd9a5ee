import { isAlreadyExists, isNotFound } from '@kubewright/api'
import { Namespace, ServiceAccount } from '@kubewright/k8s'
import { type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'

const name = 'default'

/** Creates the service account `default` in every namespace. Pods that name no service account use it. */
export const serviceAccountController: KeyController = defineBuiltinController({
  name: 'serviceaccount-controller',
  kind: ServiceAccount,
  sources: [
    kindSource(Namespace),
    kindSource(ServiceAccount, { map: ({ metadata }) => (metadata.name === name ? [metadata.namespace ?? ''] : []) }),
  ],
  start:
    () =>
    async (namespace, { client, signal }) => {
      const found = await client.find(Namespace, namespace, { signal })
      if (found === undefined || found.status?.phase === 'Terminating') return
      if (await client.find(ServiceAccount, { name, namespace }, { signal })) return
      try {
        await client.create(ServiceAccount({ metadata: { name, namespace } }), { signal })
      } catch (error) {
        // Another client created it first, or the namespace is gone.
        if (!isAlreadyExists(error) && !isNotFound(error)) throw error
      }
    },
})
