import type { JSONSchemaProps } from '../model/json-schema.ts'

/** An integer or a string, for example a port number or name. */
export type IntOrString = number | string

/** One requirement of a label selector. */
export interface LabelSelectorRequirement {
  key: string
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist'
  values?: string[]
}

/**
 * A query over labels: all of `matchLabels` and `matchExpressions` must match. An empty selector matches everything.
 */
export interface LabelSelector {
  matchLabels?: Record<string, string>
  matchExpressions?: LabelSelectorRequirement[]
}

/** A reference to any object. */
export interface ObjectReference {
  apiVersion?: string
  fieldPath?: string
  kind?: string
  name?: string
  namespace?: string
  resourceVersion?: string
  uid?: string
}

/**
 * A reference by name to an object in the same namespace, as read: the API server defaults the name to the empty
 * string.
 */
export interface LocalObjectReference {
  name: string
}

/** A key of a Secret or ConfigMap in the same namespace, as read. */
export interface KeySelector {
  name: string
  key: string
  optional?: boolean
}

/** A key of a Secret or ConfigMap in the same namespace, as written. */
export interface KeySelectorDraft {
  name?: string
  key: string
  optional?: boolean
}

/** A complete embedded resource, with fields that this schema does not describe. */
export interface EmbeddedResource {
  apiVersion: string
  kind: string
  metadata?: {
    name?: string
    namespace?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  [field: string]: unknown
}

const intOrStringArms: readonly JSONSchemaProps[] = [{ type: 'integer' }, { type: 'string' }]

/** The form of int-or-string that controller-gen emits and structural schemas allow. */
export const intOrStringJson: JSONSchemaProps = { anyOf: intOrStringArms, 'x-kubernetes-int-or-string': true }

/** `resource.Quantity` in the form of controller-gen. */
export const quantityJson: JSONSchemaProps = {
  ...intOrStringJson,
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
}

/** `metav1.LabelSelector`. */
export const labelSelectorJson: JSONSchemaProps = {
  type: 'object',
  properties: {
    matchExpressions: {
      description: 'Requirements on labels. All of them must hold.',
      type: 'array',
      items: {
        type: 'object',
        properties: {
          key: { description: 'The label key to which the requirement applies.', type: 'string' },
          operator: {
            description: 'How the label relates to the values: In, NotIn, Exists or DoesNotExist.',
            type: 'string',
          },
          values: {
            description: 'The values for In and NotIn; empty for Exists and DoesNotExist.',
            type: 'array',
            items: { type: 'string' },
            'x-kubernetes-list-type': 'atomic',
          },
        },
        required: ['key', 'operator'],
      },
      'x-kubernetes-list-type': 'atomic',
    },
    matchLabels: {
      description: 'Labels that must have exactly these values.',
      type: 'object',
      additionalProperties: { type: 'string' },
    },
  },
  'x-kubernetes-map-type': 'atomic',
}

/** `corev1.ObjectReference`. */
export const objectReferenceJson: JSONSchemaProps = {
  type: 'object',
  properties: {
    apiVersion: { description: 'API version of the object.', type: 'string' },
    fieldPath: {
      description: 'The part of the object to which this refers, such as spec.containers{name}.',
      type: 'string',
    },
    kind: { description: 'Kind of the object.', type: 'string' },
    name: { description: 'Name of the object.', type: 'string' },
    namespace: { description: 'Namespace of the object.', type: 'string' },
    resourceVersion: { description: 'The resource version to which this refers, if any.', type: 'string' },
    uid: { description: 'UID of the object.', type: 'string' },
  },
  'x-kubernetes-map-type': 'atomic',
}

/** `corev1.LocalObjectReference`. */
export const localObjectReferenceJson: JSONSchemaProps = {
  type: 'object',
  properties: { name: { description: 'Name of the object.', type: 'string', default: '' } },
  'x-kubernetes-map-type': 'atomic',
}

/** `corev1.SecretKeySelector` and `corev1.ConfigMapKeySelector`, which differ in their descriptions only. */
export const keySelectorJson = (what: 'Secret' | 'ConfigMap'): JSONSchemaProps => ({
  type: 'object',
  properties: {
    key: { description: `The key of the ${what} to select from.`, type: 'string' },
    name: { description: `Name of the ${what}.`, type: 'string', default: '' },
    optional: { description: `Whether the ${what} or its key may be missing.`, type: 'boolean' },
  },
  required: ['key'],
  'x-kubernetes-map-type': 'atomic',
})
