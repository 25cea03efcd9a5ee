import { defineConversion, spoke } from 'kubewright/conversion'
import { Home } from './home.ts'

// The first version has no field for the port, and must not lose one that was chosen.
const portAnnotation = 'ajd.my.domain/port'
const usualPort = 8080

export const homeConversion = defineConversion(Home, [
  spoke(Home.versions.v1alpha1, {
    toHub({ metadata, spec: { container, size, ...spec }, status }) {
      const { [portAnnotation]: port = usualPort, ...annotations } = metadata.annotations ?? {}
      return {
        metadata: { annotations },
        spec: { ...spec, image: container, replicas: size, port: Number(port) },
        status,
      }
    },
    fromHub({ metadata, spec: { image, replicas, port, ...spec }, status }) {
      const kept = port === usualPort ? {} : { [portAnnotation]: String(port) }
      return {
        metadata: { annotations: { ...metadata.annotations, ...kept } },
        spec: { ...spec, container: image, size: replicas },
        status,
      }
    },
  }),
])
