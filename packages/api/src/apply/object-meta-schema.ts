import type { JSONSchemaProps } from '@kubewright/schema'

const text: JSONSchemaProps = { type: 'string' }
const time: JSONSchemaProps = { type: 'string', format: 'date-time' }
const textMap: JSONSchemaProps = { type: 'object', additionalProperties: text }
const keyText: JSONSchemaProps = { type: 'string', default: '' }

/** The merge rules of ObjectMeta. Schemas of custom resources do not describe metadata, so this is used instead. */
export const objectMetaSchema: JSONSchemaProps = {
  type: 'object',
  properties: {
    annotations: textMap,
    creationTimestamp: time,
    deletionGracePeriodSeconds: { type: 'integer', format: 'int64' },
    deletionTimestamp: time,
    finalizers: {
      type: 'array',
      items: text,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    generateName: text,
    generation: { type: 'integer', format: 'int64' },
    labels: textMap,
    managedFields: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'atomic' },
    name: text,
    namespace: text,
    ownerReferences: {
      type: 'array',
      items: {
        type: 'object',
        required: ['apiVersion', 'kind', 'name', 'uid'],
        properties: {
          apiVersion: keyText,
          blockOwnerDeletion: { type: 'boolean' },
          controller: { type: 'boolean' },
          kind: keyText,
          name: keyText,
          uid: keyText,
        },
        'x-kubernetes-map-type': 'atomic',
      },
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
    },
    resourceVersion: text,
    selfLink: text,
    uid: text,
  },
}

/** The properties that every object has in addition to those of its schema. */
export const typeMetaProperties: Readonly<Record<string, JSONSchemaProps>> = {
  apiVersion: text,
  kind: text,
  metadata: objectMetaSchema,
}
