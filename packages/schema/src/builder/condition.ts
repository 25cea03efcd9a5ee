import type { JSONSchemaProps } from '../model/json-schema.ts'

/** A status condition (`metav1.Condition`): one aspect of an object's state, identified by its type. */
export interface Condition<Type extends string = string> {
  /** The aspect, in CamelCase or `example.com/CamelCase`. */
  type: Type
  /** Whether the condition holds. */
  status: 'True' | 'False' | 'Unknown'
  /** The reason for the status: one CamelCase word for programs. */
  reason: string
  /** The reason for the status, for people; may be empty. */
  message: string
  /** The time of the last change of `status`, in RFC 3339. */
  lastTransitionTime: string
  /** The `metadata.generation` from which the condition was computed. */
  observedGeneration?: number
}

/**
 * A condition as controllers write it. The code that merges it into the status keeps or updates the transition time.
 */
export interface ConditionDraft<Type extends string = string> {
  type: Type
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime?: string
  observedGeneration?: number
}

/**
 * The schema of a list of conditions, with the constraints of metav1.Condition in
 * apimachinery/pkg/apis/meta/v1/types.go.
 */
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

// By the schema of one condition: it keeps its identity when the list gets a description or becomes optional. The types
// are not part of the JSON, because the CRD accepts other types too.
const declaredTypes = new WeakMap<object, readonly string[]>()

/** Remembers the types with which `s.conditions()` was called. The schema must be in the canonical form of `s`. */
export function declareConditionTypes(conditions: JSONSchemaProps, types: readonly string[]): void {
  if (typeof conditions.items === 'object') declaredTypes.set(conditions.items, Object.freeze([...types]))
}

/** The types that `s.conditions()` declared; undefined for a schema that was built otherwise. */
export function conditionTypesOf(conditions: JSONSchemaProps): readonly string[] | undefined {
  return typeof conditions.items === 'object' ? declaredTypes.get(conditions.items) : undefined
}
