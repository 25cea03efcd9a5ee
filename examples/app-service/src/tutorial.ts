// The reconciler of the tutorial that this example is based on, step by step. It looks complete; the tests show its
// mistakes. Do not use it.
import { defineController, defineOperator } from 'kubewright'
import { Deployment, type DeploymentDraft, Service, type ServiceDraft } from 'kubewright/k8s'
import { controllerRef } from 'kubewright/runtime'
import { AppService } from './app-service.ts'

export const tutorialController = defineController(AppService, {
  // There is no `owns`, so changes of the children do not trigger a reconcile.
  rbac: [
    { apiGroups: ['apps'], resources: ['deployments'], verbs: ['get', 'create', 'update'] },
    { apiGroups: [''], resources: ['services'], verbs: ['get', 'create', 'update'] },
    { apiGroups: ['batch.example.com'], resources: ['appservices', 'appservices/finalizers'], verbs: ['update'] },
  ],

  async reconcile(app, { client }) {
    const { name, namespace } = app.metadata
    const deployment = await client.find(Deployment, { name, namespace })
    if (deployment === undefined) {
      await client.create(newDeployment(app))
      await client.create(newService(app))
    } else {
      const before: unknown = JSON.parse(app.metadata.annotations?.['spec'] ?? '')
      if (JSON.stringify(before) !== JSON.stringify(app.spec)) {
        await client.update({ ...deployment, spec: newDeployment(app).spec })
        const service = await client.get(Service, { name, namespace })
        await client.update({ ...service, spec: { ...newService(app).spec, clusterIP: service.spec?.clusterIP } })
      }
    }
    const annotations = { ...app.metadata.annotations, spec: JSON.stringify(app.spec) }
    await client.update({ ...app, metadata: { ...app.metadata, annotations } })
  },
})

export const tutorialOperator = defineOperator({ name: 'tutorial', controllers: [tutorialController] })

function newDeployment(app: AppService): DeploymentDraft {
  const { name, namespace } = app.metadata
  const labels = { app: name }
  // In Go, `targetPort.IntVal` is 0 for a string and for a missing value.
  const ports = (app.spec.ports ?? []).map(({ targetPort }) => ({
    containerPort: typeof targetPort === 'number' ? targetPort : 0,
  }))
  const { image, envs: env, resources, replicas } = app.spec
  return Deployment({
    metadata: { name, namespace, ownerReferences: [controllerRef(app)] },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name, image, imagePullPolicy: 'IfNotPresent', env, resources, ports }] },
      },
    },
  })
}

function newService(app: AppService): ServiceDraft {
  const { name, namespace } = app.metadata
  return Service({
    metadata: { name, namespace, ownerReferences: [controllerRef(app)] },
    spec: { type: 'NodePort', ports: app.spec.ports, selector: { app: name } },
  })
}
