import { type Fields, type JSONSchemaProps, s } from '@kubewright/schema'
import { guessPlural } from '../gvk.ts'
import { type AnyKind, createKind } from '../kind.ts'
import { checkNames, checkVersion } from './check-definition.ts'
import { type ResolvedResource, type ResolvedVersion, rememberResource } from './resolved-resource.ts'
import type {
  AnySchema,
  AnyVersions,
  MultiVersionDefinition,
  MultiVersionKind,
  OneOfVersions,
  ResourceDefinition,
  ResourceKind,
  ResourceNames,
} from './resource-definition.ts'

// API servers replace these descriptions by their own in OpenAPI documents; they are for readers of the manifest.
const apiVersionText = 'APIVersion is the group and version of the API that defines this object.'
const kindText = 'Kind is the name of the type of this object. It cannot be changed.'

/**
 * Defines a custom resource with several versions. The result is the Kind of the storage version; `versions` has the
 * Kind of each.
 *
 * @example
 * const Home = defineResource({
 *   group: 'ajd.example.com',
 *   kind: 'Home',
 *   versions: {
 *     v1: { storage: true, spec: s.object({ image: s.string() }) },
 *     v1beta1: { deprecated: true, spec: s.object({ container: s.string() }) },
 *   },
 * })
 * Home.versions.v1beta1({ metadata: { name: 'old' }, spec: { container: 'nginx' } })
 */
export function defineResource<const Vs extends AnyVersions>(
  definition: MultiVersionDefinition<Vs>,
): MultiVersionKind<Vs>
/**
 * Defines a custom resource. Its TypeScript type, its CustomResourceDefinition and its checks are derived from the one
 * definition. The result is a Kind, which builds drafts when called. Has no side effects: nothing is registered. Throws
 * a TypeError that names the field and the expected form when the definition is wrong.
 *
 * @example
 * const Home = defineResource({
 *   group: 'ajd.example.com',
 *   version: 'v1',
 *   kind: 'Home',
 *   spec: s.object({ image: s.string({ minLength: 1 }), replicas: s.int({ minimum: 1 }).default(1) }),
 *   status: s.object({ readyReplicas: s.int() }),
 *   columns: { Ready: '.status.readyReplicas' },
 * })
 * type Home = Infer<typeof Home>
 */
export function defineResource<
  const V extends string,
  Sp extends AnySchema = never,
  St extends AnySchema = never,
  F extends Fields = Record<never, never>,
>(
  definition: ResourceDefinition<V, Sp, St, F>,
): ResourceKind<Sp, St, F> & { readonly versions: { readonly [K in V]: ResourceKind<Sp, St, F> } }
export function defineResource(
  definition: ResourceDefinition<string, AnySchema, AnySchema, Fields> | MultiVersionDefinition<AnyVersions>,
): unknown {
  checkNames(definition)
  const versions =
    'versions' in definition
      ? Object.entries(definition.versions)
      : [[definition.version, { ...definition, storage: true }] as const]
  const resource = resolve(definition, versions, 'conversion' in definition && definition.conversion === 'none')
  const kinds = Object.fromEntries(resource.versions.map((version) => [version.name, kindOf(resource, version)]))
  const stored = resource.versions.find((version) => version.storage)
  // `resolve` guarantees that exactly one version is the storage version.
  const main = kindOf(resource, stored!)
  kinds[stored!.name] = main
  Object.defineProperty(main, 'versions', { value: Object.freeze(kinds), enumerable: false })
  for (const kind of Object.values(kinds)) rememberResource(kind, resource)
  return main
}

function resolve(
  names: ResourceNames,
  versions: readonly (readonly [string, OneOfVersions<AnySchema, AnySchema, Fields>])[],
  mayLoseFields: boolean,
): ResolvedResource {
  const { group, kind } = names
  const stored = versions.filter(([, version]) => version.storage === true).map(([name]) => name)
  if (stored.length !== 1) {
    const found = stored.length === 0 ? 'none has' : `${stored.join(' and ')} have`
    throw new TypeError(`Cannot define resource ${kind}: exactly one version must have storage: true, but ${found} it`)
  }
  return {
    group,
    kind,
    scope: names.scope ?? 'Namespaced',
    plural: names.plural ?? guessPlural(kind),
    singular: names.singular ?? kind.toLowerCase(),
    listKind: names.listKind ?? `${kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    labels: names.metadata?.labels ?? {},
    annotations: names.metadata?.annotations ?? {},
    external: names.external ?? false,
    mayLoseFields,
    versions: versions.map(([name, version]) => {
      const schema = objectSchema(version)
      const columns = checkVersion(`${kind} ${name}`, name, version, schema, names.external === true)
      return {
        name,
        served: version.served ?? true,
        storage: version.storage === true,
        deprecated: version.deprecated ?? false,
        schema,
        columns,
        selectableFields: version.selectableFields ?? [],
        hasStatus: version.status !== undefined || version.statusSubresource === true,
        ...(version.scale === undefined ? {} : { scale: version.scale }),
      }
    }),
  }
}

/** The schema of the whole object, in the canonical form of `s`. */
function objectSchema(version: OneOfVersions<AnySchema, AnySchema, Fields>): JSONSchemaProps {
  const { spec, status, fields, objectName, rules, description } = version
  const all = {
    apiVersion: s.string().describe(apiVersionText).optional(),
    kind: s.string().describe(kindText).optional(),
    // Optional, because the API server can generate the name from generateName.
    metadata: s.object(objectName === undefined ? {} : { name: objectName.optional() }).optional(),
    ...fields,
    ...(spec === undefined ? {} : { spec }),
    // Optional even when its schema is required, because a new object has no status.
    ...(status === undefined ? {} : { status: status.presence === 'required' ? status.optional() : status }),
  }
  let object: AnySchema = s.object(all, version.preserveUnknownFields ? { preserveUnknownFields: true } : {})
  if (description !== undefined) object = object.describe(description)
  // The cast is safe: the type of `fieldPath` depends on the schema, which is not known here.
  for (const { rule, ...options } of rules ?? [])
    object = object.rule(rule, options as { message?: string | undefined })
  return object.json
}

function kindOf(resource: ResolvedResource, version: ResolvedVersion): AnyKind {
  const { versions: _, labels: __, annotations: ___, external: ____, mayLoseFields: _____, ...names } = resource
  return createKind({
    ...names,
    version: version.name,
    subresources: [...(version.hasStatus ? ['status'] : []), ...(version.scale === undefined ? [] : ['scale'])],
    schema: () => version.schema,
  })
}
