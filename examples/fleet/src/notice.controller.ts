import { type Client, condition, defineController, isNotFound, type Key } from 'kubewright'
import { ConfigMap } from 'kubewright/k8s'
import { counter } from 'kubewright/telemetry'
import { Notice } from './notice.ts'

/** The label of the copies. The operator caches only ConfigMaps that have it. */
export const copyLabel = 'fleet.example.com/notice'

/** Counts the copies by cluster. */
export const copied = counter('fleet_notices_copied_total', { help: 'Number of copied notices.', labels: ['cluster'] })

/** Copies each Notice of the main cluster to a ConfigMap in every other cluster. */
export const noticeController = defineController(Notice, {
  clusters: 'main',
  async reconcile({ metadata, spec }, { clusters, log }) {
    const { name, namespace = '' } = metadata
    const reached: string[] = []
    const missed: string[] = []
    for (const { name: cluster, client } of clusters) {
      if (cluster === '') continue
      const labels = { [copyLabel]: name }
      const copy = ConfigMap({ metadata: { name, namespace, labels }, data: { text: spec.text } })
      try {
        await client.apply(copy, { fieldManager: 'fleet', force: true })
        copied.inc({ cluster })
        reached.push(cluster)
      } catch (error) {
        // A cluster that does not respond must not keep the others from the text.
        log.error(error, 'Cluster was not reached', { cluster })
        missed.push(cluster)
      }
    }
    const published =
      missed.length === 0
        ? condition('Published', true, 'Copied')
        : condition('Published', false, 'ClustersMissed', missed.sort().join(', '))
    // Clusters come and go without a change of the Notice.
    return { status: { clusters: reached.sort(), conditions: [published] }, requeueAfter: '1m' }
  },
  async cleanup({ metadata: { name, namespace = '' } }, { clusters }) {
    for (const { name: cluster, client } of clusters) if (cluster !== '') await remove(client, { name, namespace })
  },
})

async function remove(client: Client, key: Key): Promise<void> {
  await client.delete(ConfigMap, key).catch((error: unknown) => {
    if (!isNotFound(error)) throw error
  })
}
