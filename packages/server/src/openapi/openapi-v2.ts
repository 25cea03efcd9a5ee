import type { Release } from '@kubewright/k8s/releases'
import { type ApiOperation, type ApiPath, apiParameters, type OperationBody } from './api-operation.ts'
import { type PublishedSchema, refOf } from './custom-definitions.ts'
import { metaDefinition } from './definition-name.ts'
import { definitionsFor } from './definitions.ts'

/** The document of /openapi/v2, with all paths and definitions. */
export function openApiV2(
  release: Release,
  paths: readonly ApiPath[],
  custom: ReadonlyMap<string, PublishedSchema>,
): Record<string, unknown> {
  const roots = new Set<string>(custom.keys())
  const used = new Set<string>()
  const refer = (name: string): PublishedSchema => {
    if (name === 'string') return { type: 'string' }
    roots.add(name)
    return { $ref: refOf(name, 'v2') }
  }
  const items = [...paths]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((path) => [path.path, pathItem(path, refer, used)] as const)
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: release.version },
    paths: Object.fromEntries(items),
    definitions: definitionsFor(release, roots, custom, 'v2'),
    parameters: Object.fromEntries([...used].sort().map((name) => [name, parameter(name, undefined)])),
    securityDefinitions: {
      BearerToken: { description: 'Bearer Token authentication', type: 'apiKey', name: 'authorization', in: 'header' },
    },
    security: [{ BearerToken: [] }],
  }
}

type Refer = (name: string) => PublishedSchema

function pathItem(path: ApiPath, refer: Refer, used: Set<string>): Record<string, unknown> {
  const item: Record<string, unknown> = {}
  for (const operation of path.operations) item[operation.method] = writeOperation(operation, refer, used)
  const placeholders = [...path.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  const parameters = [...placeholders, ...path.parameters].sort().map((name) => {
    return name === 'name' ? parameter(name, path.named) : shared(name, used)
  })
  return parameters.length > 0 ? { ...item, parameters } : item
}

function writeOperation(operation: ApiOperation, refer: Refer, used: Set<string>): Record<string, unknown> {
  const { tag, description, id, action, kind, body, consumes = ['*/*'], produces } = operation
  const parameters = [
    ...(body ? [bodyParameter(body, refer)] : []),
    // kubectl reads dryRun from each operation and does not follow references.
    ...operation.parameters.map((name) => (inlined.has(name) ? parameter(name, undefined) : shared(name, used))),
  ]
  const responses = Object.entries(operation.responses).map(([code, definition]) => [
    code,
    { description: statusTexts[code] ?? '', schema: refer(definition) },
  ])
  return {
    description,
    consumes: body && 'patch' in body ? body.patch : consumes,
    produces,
    schemes: ['https'],
    tags: [tag],
    operationId: id,
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: { ...Object.fromEntries(responses), 401: { description: 'Unauthorized' } },
    ...(action === undefined ? {} : { 'x-kubernetes-action': action }),
    ...(kind ? { 'x-kubernetes-group-version-kind': kind } : {}),
  }
}

const inlined: ReadonlySet<string> = new Set(['dryRun', 'fieldValidation'])

function bodyParameter(body: OperationBody, refer: Refer): Record<string, unknown> {
  if ('options' in body) return { name: 'body', in: 'body', schema: refer(body.options) }
  const schema = refer('patch' in body ? metaDefinition('Patch') : body.definition)
  return { name: 'body', in: 'body', required: true, schema }
}

function shared(name: string, used: Set<string>): Record<string, unknown> {
  used.add(name)
  return { $ref: `#/parameters/${name}` }
}

function parameter(name: string, named: string | undefined): Record<string, unknown> {
  const { in: where, type, description } = apiParameters[name]!
  return {
    uniqueItems: true,
    type,
    description: name === 'name' && named !== undefined ? `name of the ${named}` : description,
    name,
    in: where,
    ...(where === 'path' ? { required: true } : {}),
  }
}

const statusTexts: Readonly<Record<string, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' }
