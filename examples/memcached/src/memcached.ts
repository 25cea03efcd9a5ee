import { defineResource, type Infer, s } from 'kubewright'

/** A Memcached server. */
export const Memcached = defineResource({
  group: 'cache.example.com',
  version: 'v1alpha1',
  kind: 'Memcached',
  description: 'A Memcached server.',
  spec: s.object({ size: s.int({ minimum: 1, maximum: 3 }).default(1).describe('The number of instances.') }),
  status: s.object({ conditions: s.conditions('Available') }),
})
export type Memcached = Infer<typeof Memcached>
