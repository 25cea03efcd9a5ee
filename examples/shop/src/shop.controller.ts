import { defineDependents, dependent } from 'kubewright/dependents'
import { Deployment, Job, Service, StatefulSet } from 'kubewright/k8s'
import { Shop } from './shop.ts'

const database = dependent('database', StatefulSet, {
  desired: (shop: Shop) =>
    StatefulSet({
      metadata: { name: `${shop.metadata.name}-database` },
      spec: { serviceName: shop.metadata.name, ...pods(shop, 'database', 'postgres:17') },
    }),
})

/** Prepares the database for an image. The name contains the image, so that a new one runs again. */
const migration = dependent('migration', Job, {
  dependsOn: [database],
  desired: (shop: Shop, { live }) =>
    Job({
      metadata: { name: `${shop.metadata.name}-migration-${shop.spec.image.replace(/[^a-z0-9]+/g, '-')}` },
      spec: {
        template: {
          spec: {
            restartPolicy: 'Never',
            containers: [
              {
                name: 'migration',
                image: shop.spec.image,
                env: [{ name: 'DATABASE', value: live(database).metadata.name }],
              },
            ],
          },
        },
      },
    }),
})

const web = dependent('web', Deployment, {
  dependsOn: [migration],
  desired: (shop: Shop) =>
    Deployment({
      metadata: { name: `${shop.metadata.name}-web` },
      spec: { replicas: shop.spec.replicas, ...pods(shop, 'web', shop.spec.image) },
    }),
})

const search = dependent('search', Deployment, {
  when: (shop: Shop) => shop.spec.search,
  desired: (shop: Shop) =>
    Deployment({ metadata: { name: `${shop.metadata.name}-search` }, spec: pods(shop, 'search', 'opensearch:3') }),
})

const service = dependent('service', Service, {
  desired: (shop: Shop) =>
    Service({ metadata: { name: shop.metadata.name }, spec: { selector: labels(shop, 'web'), ports: [{ port: 80 }] } }),
})

export const shopController = defineDependents(Shop, {
  dependents: [database, migration, web, search, service],
  status: ({ metadata }) => ({ url: `http://${metadata.name}.${metadata.namespace}.svc` }),
})

const labels = (shop: Shop, part: string) => ({ 'example.com/shop': shop.metadata.name, 'example.com/part': part })

const pods = (shop: Shop, part: string, image: string) => ({
  selector: { matchLabels: labels(shop, part) },
  template: { metadata: { labels: labels(shop, part) }, spec: { containers: [{ name: part, image }] } },
})
