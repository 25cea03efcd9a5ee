import { isAlreadyExists, isNotFound } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import { ConfigMap, Namespace } from '@kubewright/k8s'
import { type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'

const name = 'kube-root-ca.crt'
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Publishes the CA certificate of the API server in a ConfigMap in every namespace, where pods read it. */
export function rootCaPublisher(rootCa: string): KeyController {
  return defineBuiltinController({
    name: 'root-ca-certificate-publisher-controller',
    kind: ConfigMap,
    sources: [
      kindSource(Namespace),
      kindSource(ConfigMap, { map: ({ metadata }) => (metadata.name === name ? [metadata.namespace ?? ''] : []) }),
    ],
    start:
      () =>
      async (namespace, { client, signal }) => {
        const found = await client.find(Namespace, namespace, { signal })
        if (found === undefined || found.status?.phase === 'Terminating') return
        const data = { 'ca.crt': rootCa }
        const map = await client.find(ConfigMap, { name, namespace }, { signal })
        try {
          const annotations = { ...map?.metadata.annotations, 'kubernetes.io/description': description }
          if (map === undefined) {
            await client.create(ConfigMap({ metadata: { name, namespace, annotations }, data }), { signal })
          } else if (
            !deepEqual(map.data, data) ||
            (map.metadata.annotations?.['kubernetes.io/description'] ?? '') === ''
          ) {
            await client.update({ ...map, metadata: { ...map.metadata, annotations }, data }, { signal })
          }
        } catch (error) {
          // Another client created it first, or the namespace is gone.
          if (!isAlreadyExists(error) && !isNotFound(error)) throw error
        }
      },
  })
}
