// Our informer, on our client.
import { nullLogger, systemClock, systemRandom } from '@kubewright/base'
import { createClient, dynamicKind, httpTransport } from '@kubewright/client'
import { SharedInformer } from '@kubewright/runtime'
import { type Consumer, report, taskOfArguments } from './consumer-report.ts'

const task = taskOfArguments()
const kind = dynamicKind({
  group: 'example.com',
  version: 'v1',
  kind: 'WebSite',
  plural: 'websites',
  scope: 'Namespaced',
})
const client = createClient({ transport: httpTransport({ server: task.server, compression: false }), namespace: '' })
const informer = new SharedInformer({
  source: {
    list: async () => {
      throw new Error('not needed')
    },
    watch: async ({ signal, ...options }) => (await client.watch(kind, { ...options, signal })).batches() as never,
  },
  resource: { group: 'example.com', version: 'v1', resource: 'websites' },
  clock: systemClock,
  random: systemRandom,
  log: nullLogger,
})
let seen = 0
let wanted = Number.POSITIVE_INFINITY
let finish = (): void => undefined
informer.addHandler({
  onUpdate() {
    if (++seen === wanted) finish()
  },
})
const consumer: Consumer = {
  start: () => informer.start().synced(),
  read: (name, namespace) =>
    (informer.store.get(`${namespace}/${name}`) as { spec?: { replicas: number } } | undefined)?.spec?.replicas === 4,
  updates: (count) =>
    new Promise((resolve) => {
      wanted = count
      finish = resolve
    }),
}
await report(consumer, task)
