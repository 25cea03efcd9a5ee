// The informer of @kubernetes/client-node.
import { CustomObjectsApi, KubeConfig, type KubernetesListObject, makeInformer } from '@kubernetes/client-node'
import { type Consumer, report, taskOfArguments } from './consumer-report.ts'
import { sitesPath } from './stored-sites.ts'

const task = taskOfArguments()
const config = new KubeConfig()
config.loadFromClusterAndUser({ name: 'source', server: task.server, skipTLSVerify: true }, { name: 'user' })
const api = config.makeApiClient(CustomObjectsApi)

interface Site {
  readonly metadata?: { readonly name?: string; readonly namespace?: string }
  readonly spec?: { readonly replicas: number }
}

const list = (): Promise<KubernetesListObject<Site>> =>
  api.listClusterCustomObject({ group: 'example.com', version: 'v1', plural: 'websites' })
const informer = makeInformer<Site>(config, sitesPath, list)

const consumer: Consumer = {
  async start() {
    await informer.start()
    // The informer opens its watch asynchronously; events must not be sent before.
    await new Promise((resolve) => setTimeout(resolve, 200))
  },
  read: (name, namespace) => informer.get(name, namespace)?.spec?.replicas === 4,
  updates: (count) =>
    new Promise((resolve) => {
      let seen = 0
      informer.on('update', (object) => {
        if (object.spec?.replicas === 4 && ++seen === count) resolve()
      })
    }),
}
await report(consumer, task)
