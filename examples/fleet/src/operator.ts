import { cached, defineOperator, type KubeconfigSecretsOptions, kubeconfigSecrets, type Operator } from 'kubewright'
import { ConfigMap } from 'kubewright/k8s'
import { copied, copyLabel, noticeController } from './notice.controller.ts'
import { Notice } from './notice.ts'

/** The operator, with the settings that apply to all of it. Tests replace the connections to the clusters. */
export const fleetOperator = (connections: Pick<KubeconfigSecretsOptions, 'connect'> = {}): Operator =>
  defineOperator({
    name: 'fleet',
    controllers: [noticeController],
    // Each Secret with the label is a cluster, named after the Secret.
    clusters: kubeconfigSecrets({ namespace: 'default', selector: 'fleet.example.com/cluster', ...connections }),
    cache: { dropManagedFields: true, byKind: [cached(ConfigMap, { selector: copyLabel })] },
    metrics: [copied],
    checks: {
      ready: {
        notices: async ({ client, signal }) => void (await client.list(Notice, { signal })),
      },
    },
    metricsHandlers: {
      '/notices': async ({ client }) =>
        (await client.list(Notice))
          .map(({ metadata, status }) => `${metadata.name}: ${status?.clusters.join()}\n`)
          .join(''),
    },
  })

export const operator = fleetOperator()
