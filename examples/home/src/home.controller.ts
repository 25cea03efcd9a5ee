import { condition, defineController } from 'kubewright'
import { Deployment, Service } from 'kubewright/k8s'
import type { Dns } from './dns.ts'
import { Home } from './home.ts'

export const homeController = (dns: Dns) =>
  defineController(Home, {
    owns: [Deployment, Service],

    async reconcile(home, { apply, signal }) {
      const [deployment] = await Promise.all([apply(deploymentFor(home)), apply(serviceFor(home))])
      if (home.spec.domain) await dns.point(home.spec.domain, home.metadata.name, { signal })

      const ready = deployment.status?.readyReplicas ?? 0
      const done = ready >= home.spec.replicas
      return {
        status: {
          readyReplicas: ready,
          conditions: [
            condition('Ready', done, done ? 'Serving' : 'RollingOut', `${ready}/${home.spec.replicas} ready`),
          ],
        },
      }
    },

    // Defining a cleanup adds the finalizer. When the cleanup succeeds, the finalizer is removed.
    async cleanup(home, { signal }) {
      if (home.spec.domain) await dns.release(home.spec.domain, { signal })
    },
  })

const labels = (home: Home) => ({ 'app.kubernetes.io/instance': home.metadata.name })

const deploymentFor = (home: Home) =>
  Deployment({
    metadata: { name: home.metadata.name },
    spec: {
      replicas: home.spec.replicas,
      selector: { matchLabels: labels(home) },
      template: {
        metadata: { labels: labels(home) },
        spec: { containers: [{ name: 'web', image: home.spec.image, ports: [{ containerPort: home.spec.port }] }] },
      },
    },
  })

const serviceFor = (home: Home) =>
  Service({
    metadata: { name: home.metadata.name },
    spec: { selector: labels(home), ports: [{ port: 80, targetPort: home.spec.port }] },
  })
