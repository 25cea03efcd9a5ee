import { condition, defineController } from 'kubewright'
import { Deployment } from 'kubewright/k8s'
import { Memcached } from './memcached.ts'

export const memcachedController = defineController(Memcached, {
  owns: [Deployment],

  async reconcile(memcached, { apply }) {
    const { size } = memcached.spec
    const { status: progress } = await apply(deploymentFor(memcached))
    const ready = progress?.availableReplicas ?? 0
    return {
      status: {
        conditions: [condition('Available', ready >= size, 'Reconciling', `${ready} of ${size} instances run`)],
      },
    }
  },

  onError: (_, error) => ({
    mergeStatus: {
      conditions: [condition('Available', false, 'Reconciling', `Cannot apply the Deployment: ${error}`)],
    },
  }),
})

const deploymentFor = ({ metadata: { name }, spec }: Memcached) => {
  const labels = { 'app.kubernetes.io/name': 'memcached', 'app.kubernetes.io/instance': name }
  return Deployment({
    metadata: { name, labels },
    spec: {
      replicas: spec.size,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          containers: [
            {
              name: 'memcached',
              image: 'memcached:1.6.26-alpine3.19',
              command: ['memcached', '--memory-limit=64', '-o', 'modern', '-v'],
              ports: [{ name: 'memcached', containerPort: 11211 }],
              securityContext: { runAsUser: 1001, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      },
    },
  })
}
