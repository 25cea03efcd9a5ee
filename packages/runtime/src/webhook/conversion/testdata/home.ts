import { defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { type Conversion, defineConversion, spoke } from '../../../define/define-conversion.ts'

/** A resource with three versions whose fields differ in name or type. */
export const Home = defineResource({
  group: 'ajd.example.com',
  kind: 'Home',
  versions: {
    v1: {
      storage: true,
      spec: s.object({
        image: s.string({ minLength: 1 }),
        replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
        ports: s.array(s.int({ minimum: 1, maximum: 65_535 }), { maxItems: 3 }).optional(),
      }),
      status: s.object({ ready: s.bool() }),
    },
    v1beta1: {
      spec: s.object({
        container: s.string({ minLength: 1 }),
        replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
        ports: s.array(s.int({ minimum: 1, maximum: 65_535 }), { maxItems: 3 }).optional(),
      }),
      status: s.object({ ready: s.bool() }),
    },
    v1alpha1: {
      spec: s.object({ container: s.string({ minLength: 1 }), size: s.int({ minimum: 1, maximum: 9 }).default(1) }),
    },
  },
})

const kept = 'ajd.example.com/v1'

/** A lossless conversion: fields that the oldest version lacks are stored in an annotation. */
export const homeConversion: Conversion = defineConversion(Home, [
  spoke(Home.versions.v1beta1, {
    toHub: ({ spec: { container, ...spec }, status }) => ({ spec: { ...spec, image: container }, status }),
    fromHub: ({ spec: { image, ...spec }, status }) => ({ spec: { ...spec, container: image }, status }),
  }),
  spoke(Home.versions.v1alpha1, {
    toHub: ({ spec, metadata }) => {
      const { [kept]: text = '{}', ...annotations } = metadata.annotations ?? {}
      const { ports, status } = JSON.parse(text) as { ports?: number[]; status?: { ready: boolean } }
      return {
        metadata: { annotations },
        spec: { image: spec.container, replicas: spec.size, ...(ports ? { ports } : {}) },
        ...(status ? { status } : {}),
      }
    },
    fromHub: ({ spec: { image, replicas, ports }, status, metadata }) => ({
      metadata: {
        annotations: {
          ...metadata.annotations,
          ...(ports || status ? { [kept]: JSON.stringify({ ports, status }) } : {}),
        },
      },
      spec: { container: image, size: replicas },
    }),
  }),
])
