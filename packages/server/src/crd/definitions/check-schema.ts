import { createHash } from 'node:crypto'
import { encodeJson } from '@kubewright/api'
import { type CheckStructuralOptions, checkStructural, type FieldError, type JSONSchemaProps } from '@kubewright/schema'

/** The number of remembered schemas. When there are more, they are forgotten. */
const maxPassed = 10_000

/**
 * The digests of schemas that are valid for every definition. Definitions are updated more often than their schemas change, and the
 * servers of one process, for example those of tests, get the same definitions.
 */
const passed = new Set<string>()

/** Returns the errors of a schema like `checkStructural`, which is called once for each valid schema. */
export function checkSchema(schema: JSONSchemaProps, options: CheckStructuralOptions): FieldError[] {
  const root = options.statusSubresource === true ? 'status' : ''
  const digest = createHash('sha256')
    .update(`${root}\n${encodeJson(schema)}`)
    .digest('base64')
  if (passed.has(digest)) return []
  const errors = checkStructural(schema, options)
  // A stored definition can only relax the check.
  const isStrict = options.stored === undefined && options.unchanged !== true
  if (isStrict && errors.length === 0) {
    if (passed.size >= maxPassed) passed.clear()
    passed.add(digest)
  }
  return errors
}
