/** A CEL rule in the `x-kubernetes-validations` of a CRD. */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/**
 * An OpenAPI v3 schema in Kubernetes' dialect: the `openAPIV3Schema` of a CRD, or the schema of a built-in kind, which
 * adds the patch merge keys. Plain JSON data. Built-in schemas may resolve `properties` and `items` lazily through
 * getters and may be cyclic, so traverse them by path and cache by identity.
 */
export interface JSONSchemaProps {
  readonly $schema?: string
  readonly $ref?: string
  readonly id?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly nullable?: boolean
  readonly default?: unknown
  readonly example?: unknown
  readonly externalDocs?: { readonly description?: string; readonly url?: string }
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly items?: JSONSchemaProps
  readonly properties?: Readonly<Record<string, JSONSchemaProps>>
  readonly additionalProperties?: JSONSchemaProps | boolean
  readonly patternProperties?: Readonly<Record<string, JSONSchemaProps>>
  readonly additionalItems?: JSONSchemaProps | boolean
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>
  readonly dependencies?: Readonly<Record<string, JSONSchemaProps | readonly string[]>>
  readonly allOf?: readonly JSONSchemaProps[]
  readonly anyOf?: readonly JSONSchemaProps[]
  readonly oneOf?: readonly JSONSchemaProps[]
  readonly not?: JSONSchemaProps
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
  /** Built-in kinds only: how strategic merge patch merges this field. */
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string
    readonly version: string
    readonly kind: string
  }[]
}
