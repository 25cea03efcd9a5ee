import type { JSONSchemaProps } from '../json-schema.ts'

/** A status condition as `metav1.Condition` has it: one aspect of an object's state, identified by its type. */
export interface Condition<Type extends string = string> {
  /** What the condition is about, in CamelCase or `example.com/CamelCase`. */
  type: Type
  /** Whether it holds. */
  status: 'True' | 'False' | 'Unknown'
  /** Why it is in this status: one CamelCase word for programs. */
  reason: string
  /** Why it is in this status, for humans; may be empty. */
  message: string
  /** When `status` last changed, as RFC 3339 time. */
  lastTransitionTime: string
  /** The `metadata.generation` that the condition was computed from. */
  observedGeneration?: number
}

/** A condition as one writes it: the transition time is kept or renewed by whoever merges it into the status. */
export interface ConditionDraft<Type extends string = string> {
  type: Type
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime?: string
  observedGeneration?: number
}

/** The schema of a list of conditions: the constraints are those of metav1.Condition in apimachinery/pkg/apis/meta/v1/types.go. */
export const conditionsJson: JSONSchemaProps = {
  type: 'array',
  items: {
    description: 'One aspect of the current state of this object.',
    type: 'object',
    properties: {
      lastTransitionTime: {
        description: 'When the status of the condition last changed.',
        type: 'string',
        format: 'date-time',
      },
      message: { description: 'Details for humans. May be empty.', type: 'string', maxLength: 32768 },
      observedGeneration: {
        description:
          'The metadata.generation that the condition was computed from; older than the current one means out of date.',
        type: 'integer',
        format: 'int64',
        minimum: 0,
      },
      reason: {
        description: 'Why the condition is in this status: one CamelCase word for programs.',
        type: 'string',
        maxLength: 1024,
        minLength: 1,
        pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      },
      status: { description: 'Whether the condition holds.', type: 'string', enum: ['True', 'False', 'Unknown'] },
      type: {
        description: 'What the condition is about, in CamelCase or example.com/CamelCase.',
        type: 'string',
        maxLength: 316,
        pattern:
          '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      },
    },
    required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'],
  },
  'x-kubernetes-list-map-keys': ['type'],
  'x-kubernetes-list-type': 'map',
}
