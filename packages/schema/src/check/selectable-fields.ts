import { errorText } from '@kubewright/base'
import { duplicate, type FieldError, invalid, required, tooMany } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { resolveSchemaPath, type SchemaPathTarget } from '../model/rule-field-path.ts'

const MAX_SELECTABLE_FIELDS = 8

/** Options of {@link checkSelectableFields}. */
export interface SelectableFieldsOptions {
  /** Whether more than eight fields are allowed; for an update that does not change them. @default false */
  readonly allowTooMany?: boolean | undefined
}

/**
 * Returns the errors that kube-apiserver reports for the `selectableFields` of a CRD version. Each must refer to a
 * scalar outside of metadata.
 */
export function checkSelectableFields(
  selectableFields: readonly { readonly jsonPath?: string | undefined }[],
  schema: JSONSchemaProps,
  path: FieldPath,
  options: SelectableFieldsOptions = {},
): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  selectableFields.forEach(({ jsonPath = '' }, i) => {
    const at = path.index(i).child('jsonPath')
    if (jsonPath === '') {
      errors.push(required(at))
      return
    }
    const target = resolve(jsonPath, schema)
    if (typeof target === 'string') {
      errors.push(invalid(at, jsonPath, `is an invalid path: ${target}`))
      return
    }
    if (target.path.root().toString() === 'metadata') {
      errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'))
    }
    if (!SELECTABLE_TYPES.has(target.schema.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.'
      errors.push(invalid(at, jsonPath, detail))
    }
    const text = target.path.toString()
    if (seen.has(text)) errors.push(duplicate(at, jsonPath))
    seen.add(text)
  })
  if (seen.size > MAX_SELECTABLE_FIELDS && options.allowTooMany !== true) {
    errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS))
  }
  return errors
}

const SELECTABLE_TYPES: ReadonlySet<string> = new Set(['string', 'boolean', 'integer'])

function resolve(jsonPath: string, schema: JSONSchemaProps): SchemaPathTarget | string {
  try {
    return resolveSchemaPath(jsonPath, schema, { allowBrackets: false })
  } catch (error) {
    return errorText(error)
  }
}
