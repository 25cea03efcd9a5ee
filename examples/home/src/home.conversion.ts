import { defineConversion, spoke } from 'kubewright/conversion'
import { Home } from './home.ts'

// v1alpha1 has no field for the port. An annotation keeps a port that differs from the default.
const portAnnotation = 'ajd.my.domain/port'
const defaultPort = 8080

export const homeConversion = defineConversion(Home, [
  spoke(Home.versions.v1alpha1, {
    toHub({ metadata, spec: { container, size, ...spec }, status }) {
      const { [portAnnotation]: port = defaultPort, ...annotations } = metadata.annotations ?? {}
      return {
        metadata: { annotations },
        spec: { ...spec, image: container, replicas: size, port: Number(port) },
        status,
      }
    },
    fromHub({ metadata, spec: { image, replicas, port, ...spec }, status }) {
      const kept = port === defaultPort ? {} : { [portAnnotation]: String(port) }
      return {
        metadata: { annotations: { ...metadata.annotations, ...kept } },
        spec: { ...spec, container: image, size: replicas },
        status,
      }
    },
  }),
])
