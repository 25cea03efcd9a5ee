import { ApiError, condition, defineController } from 'kubewright'
import { type ContainerPort, Deployment, Service } from 'kubewright/k8s'
import { AppService } from './app-service.ts'

export const appServiceController = defineController(AppService, {
  owns: [Deployment, Service],
  // Deletes the Service of an AppService that no longer has ports.
  prune: true,

  async reconcile(app, { apply, event }) {
    const { status: progress = {} } = await apply(deploymentFor(app))
    const available = progress.availableReplicas ?? 0
    const refusal = await serve()
    const isUp = available >= app.spec.replicas
    return {
      status: {
        replicas: progress.replicas ?? 0,
        readyReplicas: progress.readyReplicas ?? 0,
        availableReplicas: available,
        conditions: [
          condition('Available', isUp, isUp ? 'Running' : 'RollingOut', `${available}/${app.spec.replicas} available`),
          refusal === undefined
            ? condition('Exposed', hasPorts(app), hasPorts(app) ? 'ServiceApplied' : 'NoPorts')
            : condition('Exposed', false, 'ServiceRefused', refusal),
        ],
      },
      // The conflicting port may become free at any time without a watch event, so check again.
      ...(refusal === undefined ? {} : { requeueAfter: '1m' }),
    }

    /** Applies the Service. Returns the message of the API server when it rejects the Service. */
    async function serve(): Promise<string | undefined> {
      if (!hasPorts(app)) return undefined
      try {
        await apply(serviceFor(app))
        return undefined
      } catch (error) {
        if (!(error instanceof ApiError && error.reason === 'Invalid')) throw error
        event('Warning', 'ServiceRefused', error.message)
        return error.message
      }
    }
  },
})

const labels = (app: AppService) => ({ app: app.metadata.name })
const hasPorts = (app: AppService): boolean => (app.spec.ports ?? []).length > 0

const deploymentFor = (app: AppService) =>
  Deployment({
    metadata: { name: app.metadata.name, labels: labels(app) },
    spec: {
      replicas: app.spec.replicas,
      selector: { matchLabels: labels(app) },
      template: {
        metadata: { labels: labels(app) },
        spec: {
          containers: [
            {
              name: app.metadata.name,
              image: app.spec.image,
              imagePullPolicy: 'IfNotPresent',
              env: app.spec.envs,
              resources: app.spec.resources,
              ports: containerPorts(app),
            },
          ],
        },
      },
    },
  })

const serviceFor = (app: AppService) =>
  Service({
    metadata: { name: app.metadata.name, labels: labels(app) },
    spec: { type: 'NodePort', selector: labels(app), ports: app.spec.ports },
  })

function containerPorts(app: AppService): ContainerPort[] | undefined {
  const ports = new Map<string, ContainerPort>()
  for (const { port, targetPort: target, protocol = 'TCP' } of app.spec.ports ?? []) {
    // A Service treats 0 and an empty name as a missing target.
    const targetPort = target || port
    // A name refers to a port of the container, whose number is not known here; use the number of the Service's port.
    const named = typeof targetPort === 'string'
    const containerPort = named ? port : targetPort
    ports.set(`${containerPort}/${protocol}`, { containerPort, protocol, ...(named ? { name: targetPort } : {}) })
  }
  return ports.size > 0 ? [...ports.values()] : undefined
}
