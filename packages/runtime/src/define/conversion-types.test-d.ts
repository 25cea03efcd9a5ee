import { defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { defineConversion, spoke } from './define-conversion.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  kind: 'Home',
  versions: {
    v1: {
      storage: true,
      spec: s.object({ image: s.string(), ports: s.array(s.int()) }),
      status: s.object({ n: s.int() }),
    },
    v1beta1: { spec: s.object({ container: s.string(), port: s.int().optional() }), status: s.object({ n: s.int() }) },
  },
})

defineConversion(Home, [
  spoke(Home.versions.v1beta1, {
    toHub: ({ spec, status, metadata }) => ({
      spec: { image: spec.container, ports: spec.port === undefined ? [] : [spec.port] },
      status,
      metadata: { annotations: { ...metadata.annotations, a: 'b' } },
    }),
    // Optional fields may be undefined.
    fromHub: ({ spec, status }) => ({
      spec: { container: spec.image, port: spec.ports[0] },
      status,
      metadata: undefined,
    }),
  }),
])

defineConversion(Home, [
  spoke(Home.versions.v1beta1, {
    // @ts-expect-error the hub has no such field
    toHub: ({ spec }) => ({ spec: { container: spec.container } }),
    // @ts-expect-error objects of the hub have no such field
    fromHub: ({ spec }) => ({ spec: { container: spec.container } }),
  }),
])
