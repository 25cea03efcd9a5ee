import { defineResource, type Infer, s } from 'kubewright'

/** A small web site that somebody calls home. */
export const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  shortNames: ['hm'],
  spec: s.object({
    image: s.string({ minLength: 1 }).describe('Container image to serve.'),
    replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
    domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
  }),
  status: s.object({
    readyReplicas: s.int(),
    conditions: s.conditions('Ready'),
  }),
  columns: { Ready: '.status.readyReplicas', Domain: '.spec.domain' },
})
export type Home = Infer<typeof Home>
