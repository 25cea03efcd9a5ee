import { defineResource, type Infer, s } from 'kubewright'

const replicas = () => s.int({ minimum: 1, maximum: 9 }).default(1)
const domain = () => s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional()
const status = s.object({ readyReplicas: s.int(), conditions: s.conditions('Ready') })

/** A small web site. */
export const Home = defineResource({
  group: 'ajd.my.domain',
  kind: 'Home',
  shortNames: ['hm'],
  versions: {
    v1: {
      storage: true,
      spec: s.object({
        image: s.string({ minLength: 1 }).describe('Container image to serve.'),
        port: s.int({ minimum: 1, maximum: 65_535 }).default(8080).describe('The port that the container listens on.'),
        replicas: replicas(),
        domain: domain(),
      }),
      status,
      columns: { Ready: '.status.readyReplicas', Domain: '.spec.domain' },
    },
    // The first version of the API.
    v1alpha1: {
      deprecated: 'ajd.my.domain/v1alpha1 Home is deprecated: use v1',
      spec: s.object({ container: s.string({ minLength: 1 }), size: replicas(), domain: domain() }),
      status,
    },
  },
})
export type Home = Infer<typeof Home>
