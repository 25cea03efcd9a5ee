// Rolls out a Deployment on @ngrok/webernetes and prints the figures.
import { BaseImage, Cluster } from '@ngrok/webernetes'
import { report, taken, takenSoFar } from './process-figures.ts'

class Web extends BaseImage {
  static readonly imageName = 'web'
  static readonly imageVersion = '1.0'
  readonly defaultCommand = ['web']

  override exec(container: Parameters<BaseImage['exec']>[0]): Promise<number> {
    return container.waitUntilKilled()
  }
}

const [replicas = 0, nodes = 0] = process.argv.slice(2).map(Number)
const cluster = new Cluster({ nodes })
cluster.registerImage(Web)
await cluster.init()
const started = takenSoFar()
const labels = { app: 'web' }
const spec = {
  replicas,
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1.0' }] } },
}
const rolledOut = await taken(async () => {
  const available = new Promise<void>((resolve) => {
    cluster.informer('deployments', (_, { status }) => {
      if (status?.availableReplicas === replicas) resolve()
    })
  })
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'many-0' } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web-0', namespace: 'many-0' }, spec },
  ])
  await available
})
report({ started, rolledOut })
process.exit(0)
