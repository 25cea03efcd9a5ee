import type { CrdManifest } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'

/** A resource as described by discovery. */
export interface ServedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly string[]
}

type Json = Readonly<Record<string, unknown>>

/**
 * Derives a CRD for a kind of an extension server from its OpenAPI v3 document. Undefined if the document does not describe the kind. The
 * CRD serves as the source of types; it is not meant to be installed.
 */
export function openApiCrd(served: ServedKind, document: unknown): CrdManifest | undefined {
  const components =
    isJsonObject(document) && isJsonObject(document['components']) ? document['components']['schemas'] : undefined
  if (!isJsonObject(components)) return undefined
  const schema = Object.values(components).find((candidate) => isJsonObject(candidate) && describes(candidate, served))
  if (!isJsonObject(schema)) return undefined
  const { group, version, kind, plural, singular, scope, shortNames, categories, subresources } = served
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: {
        kind,
        plural,
        singular: singular || kind.toLowerCase(),
        listKind: `${kind}List`,
        shortNames,
        categories,
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: plainSchema(schema, components, []) },
          ...(subresources.includes('status') ? { subresources: { status: {} } } : {}),
        },
      ],
    },
  }
}

function describes(schema: Json, { group, version, kind }: ServedKind): boolean {
  const kinds = schema['x-kubernetes-group-version-kind']
  return (
    Array.isArray(kinds) &&
    kinds.some(
      (one) => isJsonObject(one) && one['group'] === group && one['version'] === version && one['kind'] === kind,
    )
  )
}

const anything: JSONSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true }
// Keywords that Go's generator adds to every type, and keywords for patches.
const noise = /^(default|x-kubernetes-(patch-.*|group-version-kind|unions|selectable-fields))$/

/** A schema in the form of a CRD: references resolved, recursion cut, without defaults that stand for Go's zero values. */
function plainSchema(schema: Json, components: Json, inside: readonly string[]): JSONSchemaProps {
  const { $ref: reference, allOf, ...own } = schema
  const target = typeof reference === 'string' ? (reference.split('/').pop() ?? '') : undefined
  if (target !== undefined) {
    const found = components[target]
    if (inside.includes(target) || !isJsonObject(found)) return anything
    return { ...plainSchema(found, components, [...inside, target]), ...prose(own) }
  }
  // A reference with a description is written as allOf with one element.
  if (Array.isArray(allOf) && allOf.length === 1 && isJsonObject(allOf[0])) {
    return { ...plainSchema(allOf[0], components, inside), ...prose(own) }
  }
  if (isUnion(own)) return { ...prose(own), 'x-kubernetes-int-or-string': true }
  const entries = Object.entries(own).filter(([keyword]) => !noise.test(keyword))
  const result = Object.fromEntries(
    entries.map(([keyword, value]) => [keyword, inner(keyword, value, components, inside)]),
  )
  // A schema without type and properties allows any value, which a CRD must state.
  return result['type'] === undefined && result['properties'] === undefined ? { ...prose(own), ...anything } : result
}

function inner(keyword: string, value: unknown, components: Json, inside: readonly string[]): unknown {
  if (!isJsonObject(value)) return value
  switch (keyword) {
    case 'properties':
      return Object.fromEntries(
        Object.entries(value).map(([name, field]) => [
          name,
          isJsonObject(field) ? plainSchema(field, components, inside) : anything,
        ]),
      )
    case 'items':
    case 'additionalProperties':
      return plainSchema(value, components, inside)
    default:
      return value
  }
}

const prose = ({ description }: Json): JSONSchemaProps => (typeof description === 'string' ? { description } : {})

/** Whether a schema is the OpenAPI v3 form of IntOrString or Quantity. */
function isUnion({ oneOf }: Json): boolean {
  return (
    Array.isArray(oneOf) &&
    oneOf.length === 2 &&
    oneOf.every((arm) => isJsonObject(arm) && ['string', 'integer', 'number'].includes(String(arm['type'])))
  )
}
