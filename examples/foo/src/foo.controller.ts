import { defineController, isNotFound } from 'kubewright'
import { Deployment } from 'kubewright/k8s'
import { Foo } from './foo.ts'

export const fooController = defineController(Foo, {
  owns: [Deployment],
  // To delete Deployments that were replaced because the name changed.
  rbac: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['delete'] }],

  async reconcile(foo, { client, apply, children, event, log, signal }) {
    const { deploymentName: name, replicas } = foo.spec
    // A retry would not help. A change of the Foo triggers the next reconcile.
    if (name === '') return log.info('The Foo has no deploymentName')

    const deployments = await children(Deployment)
    for (const { metadata } of deployments.filter((child) => child.metadata.name !== name)) {
      const gone = client.delete(Deployment, metadata, { preconditions: { uid: metadata.uid }, signal })
      await gone.catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
      event('Normal', 'Deleted', `Deleted deployment "${metadata.name}"`)
    }

    const before = deployments.find((child) => child.metadata.name === name)
    const { status = {} } = await apply(deploymentFor(foo))
    if (before === undefined) event('Normal', 'Created', `Created deployment "${name}"`)
    else if (before.spec?.replicas !== replicas) {
      event('Normal', 'Scaled', `Scaled deployment "${name}" to ${replicas} replicas`)
    }

    const { availableReplicas = 0 } = status
    if (availableReplicas !== foo.status?.availableReplicas) {
      event('Normal', 'Updated', `Update foo.status.AvailableReplicas: ${availableReplicas}`)
    }
    return { status: { availableReplicas } }
  },
})

function deploymentFor(foo: Foo) {
  const labels = { app: 'nginx', controller: foo.metadata.name }
  return Deployment({
    metadata: { name: foo.spec.deploymentName, labels },
    spec: {
      replicas: foo.spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  })
}
