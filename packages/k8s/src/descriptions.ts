// Separate from the schemas, so that only programs that publish or show descriptions load the texts.
import type { JSONSchemaProps } from '@kubewright/schema'
import { descriptionTexts } from './generated/descriptions.ts'
import { shortName } from './internal/definition-name.ts'
import { type DescriptionTexts, type FieldTexts, parseDescriptions, textsOf } from './internal/description-notation.ts'
import type { OpenApiVersion } from './internal/publish-schema.ts'
import type { Release } from './release.ts'

// A table is parsed when one of its definitions is described for the first time.
const parsed = new Map<string, DescriptionTexts>()

/**
 * Returns a definition of a release as a component of /openapi/v3 or a definition of /openapi/v2, with references in place and with
 * descriptions. Each call returns a new object. Throws a RangeError if the definition is not built in.
 */
export function describedSchema(release: Release, name: string, version: OpenApiVersion): JSONSchemaProps {
  const schema = release.publishedSchema(name, version)
  const { '': description, ...fields } = descriptionsOf(name, schema)
  const properties = schema.properties && {
    ...schema.properties,
    // Where v3 publishes a reference without allOf, the description stands beside it; clients that follow the letter of
    // OpenAPI ignore it there. The texts also describe fields of other releases.
    ...Object.fromEntries(
      Object.entries(fields).flatMap(([field, text]) => {
        const property = schema.properties?.[field]
        return property ? [[field, { description: text, ...property }]] : []
      }),
    ),
  }
  return { ...(description === undefined ? {} : { description }), ...schema, ...(properties && { properties }) }
}

/** Returns the sentences that describe a definition (under the empty name) and its fields. */
function descriptionsOf(name: string, schema: JSONSchemaProps): FieldTexts {
  const short = shortName(name)
  if (short === undefined) return {}
  return textsOf(textsIn(short.table), textsIn('shared'), short.local, new Set(Object.keys(schema.properties ?? {})))
}

function textsIn(table: string): DescriptionTexts {
  let texts = parsed.get(table)
  if (texts === undefined) parsed.set(table, (texts = parseDescriptions(descriptionTexts[table] ?? '')))
  return texts
}
