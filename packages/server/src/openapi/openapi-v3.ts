import { type Release, type ReleaseRule, releaseRule } from '@kubewright/k8s/releases'
import { type ApiOperation, type ApiPath, apiParameters, type OperationBody } from './api-operation.ts'
import { type PublishedSchema, refOf } from './custom-definitions.ts'
import { metaDefinition } from './definition-name.ts'
import { definitionsFor } from './definitions.ts'

const securitySchemes = {
  BearerToken: { type: 'apiKey', description: 'Bearer Token authentication', name: 'authorization', in: 'header' },
}

/** The info object of custom resource documents. */
const customInfo = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' }

/**
 * A document of /openapi/v3: the paths of a group version, or paths outside of API groups. Documents of custom resources have no
 * `builtin` group version, and do not name the version of the server.
 */
export function openApiV3(
  release: Release,
  paths: readonly ApiPath[],
  custom: ReadonlyMap<string, PublishedSchema>,
  builtin: GroupVersion | undefined,
): Record<string, unknown> {
  const roots = new Set<string>()
  const refer = (name: string): { schema: unknown } => {
    if (name === 'string') return { schema: { type: 'string' } }
    roots.add(name)
    return { schema: { $ref: refOf(name, 'v3') } }
  }
  const items = [...paths]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((path) => [path.path, pathItem(path, refer)] as const)
  const schemas = definitionsFor(release, roots, custom, 'v3')
  return {
    openapi: '3.0.0',
    info: builtin ? { title: 'Kubernetes', version: release.version } : customInfo,
    paths: Object.fromEntries(items),
    components: {
      schemas: builtin && release.has(ownKindsOnly) ? withOwnKinds(schemas, builtin) : schemas,
      ...(builtin ? { securitySchemes } : {}),
    },
  }
}

interface GroupVersion {
  readonly group: string
  readonly version: string
}

/** As in apiserver/pkg/endpoints/openapi. */
export const ownKindsOnly: ReleaseRule = releaseRule({
  since: '1.36',
  summary:
    'A document of /openapi/v3 lists only the kinds of its own group version and of v1 for types that all groups share',
})

/** Removes the kinds of other group versions from types that several group versions share, such as DeleteOptions. */
function withOwnKinds(
  schemas: Readonly<Record<string, PublishedSchema>>,
  { group, version }: GroupVersion,
): Record<string, PublishedSchema> {
  const isOwn = (kind: GroupVersion): boolean =>
    (kind.group === '' && kind.version === 'v1') || (kind.group === group && kind.version === version)
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const kinds = schema['x-kubernetes-group-version-kind'] as readonly GroupVersion[] | undefined
      if (kinds === undefined || kinds.length < 2) return [name, schema]
      return [name, { ...schema, 'x-kubernetes-group-version-kind': kinds.filter(isOwn) }]
    }),
  )
}

type Refer = (name: string) => { schema: unknown }

function pathItem(path: ApiPath, refer: Refer): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  for (const operation of path.operations) item[operation.method] = writeOperation(operation, refer)
  const placeholders = [...path.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const parameters = [...placeholders, ...path.parameters].sort().map((name) => parameter(name, path.named))
  return parameters.length > 0 ? { ...item, parameters } : item
}

function writeOperation(operation: ApiOperation, refer: Refer): Record<string, unknown> {
  const { tag, description, id, action, kind, parameters, body, consumes = ['*/*'], produces } = operation
  const responses = Object.entries(operation.responses).map(([code, definition]) => {
    const content = Object.fromEntries(produces.map((type) => [type, refer(definition)]))
    return [code, { description: statusTexts[code] ?? '', content }]
  })
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length > 0 ? { parameters: parameters.map((name) => parameter(name, undefined)) } : {}),
    ...(body ? { requestBody: requestBody(body, consumes, refer) } : {}),
    responses: { ...Object.fromEntries(responses), 401: { description: 'Unauthorized' } },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind ? { 'x-kubernetes-group-version-kind': kind } : {}),
  }
}

function requestBody(body: OperationBody, consumes: readonly string[], refer: Refer): Record<string, unknown> {
  if ('patch' in body) {
    const schema = refer(metaDefinition('Patch'))
    return { content: Object.fromEntries(body.patch.map((type) => [type, schema])), required: true }
  }
  const content = (name: string): object => Object.fromEntries(consumes.map((type) => [type, refer(name)]))
  return 'options' in body ? { content: content(body.options) } : { content: content(body.definition), required: true }
}

function parameter(name: string, named: string | undefined): Record<string, unknown> {
  const { in: where, type, description } = apiParameters[name]!
  return {
    name,
    in: where,
    description: name === 'name' && named !== undefined ? `name of the ${named}` : description,
    ...(where === 'path' ? { required: true } : {}),
    schema: { type, uniqueItems: true },
  }
}

const statusTexts: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
