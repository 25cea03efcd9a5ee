import type { CrdManifest, CrdVersion } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'

/** A CRD with one version, unless others are given. */
export function crdWith(schema: JSONSchemaProps, more: Partial<CrdVersion> = {}, ...others: CrdVersion[]): CrdManifest {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', listKind: 'WidgetList', plural: 'widgets', singular: 'widget' },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }, ...others],
    },
  }
}

/** The spec of a widget in tests. */
export const widgetSpec: JSONSchemaProps = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', minimum: 1, description: 'How big it is.' },
    color: { type: 'string', enum: ['red', 'green'], default: 'red' },
  },
}
