import type { DiscoveredResource, DiscoveredSubresource } from '../discovery/discovered-resource.ts'
import type { Origin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'
import type { ApiOperation, ApiPath, OperationKind } from './api-operation.ts'
import { capitalized, definitionName, metaDefinition, operationGroup, operationTag } from './definition-name.ts'

const served = ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']
const servedCustom = ['application/json', 'application/yaml']
const streamed = [...served, 'application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']
const patches = ['application/json-patch+json', 'application/merge-patch+json']

const listing = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
]
const deleting = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
]
const collecting = [...new Set([...listing, ...deleting])]
  .filter((name) => name !== 'allowWatchBookmarks' && name !== 'watch')
  .sort()
const writing = ['dryRun', 'fieldManager', 'fieldValidation']
const logging = [
  'container',
  'follow',
  'insecureSkipTLSVerifyBackend',
  'limitBytes',
  'previous',
  'sinceSeconds',
  'stream',
  'tailLines',
  'timestamps',
]
const streaming = ['container', 'stderr', 'stdin', 'stdout', 'tty']
/** The query parameters of subresources that open connections. */
const connecting: Readonly<Record<string, readonly string[]>> = {
  attach: streaming,
  exec: ['command', ...streaming],
  portforward: ['ports'],
  proxy: [],
}
const methods = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'] as const

/** The differences between documents of built-in and custom resources in kube-apiserver. */
interface OperationStyle {
  readonly produces: readonly string[]
  /** The media types of every operation, if stated. */
  readonly consumes?: readonly string[] | undefined
  readonly patchTypes: readonly string[]
  /** Whether the documents contain watches: the deprecated watch paths, and the parameters of watching a list. */
  readonly mentionsWatches: boolean
  readonly deleteCollection: Pick<ApiOperation, 'parameters' | 'body'>
  readonly getParameters: readonly string[]
  /** Whether a patch may create objects. */
  readonly patchCreates: boolean
  /** Whether a subresource is described with its own kind, such as Scale, or with the kind of the resource. */
  readonly namesShownKind: boolean
}

const styles: Readonly<Record<Origin['name'], OperationStyle>> = {
  builtin: {
    produces: served,
    patchTypes: [...patches, 'application/strategic-merge-patch+json', 'application/apply-patch+yaml'],
    mentionsWatches: true,
    deleteCollection: { parameters: collecting, body: { options: metaDefinition('DeleteOptions') } },
    getParameters: [],
    patchCreates: true,
    namesShownKind: true,
  },
  custom: {
    produces: servedCustom,
    consumes: servedCustom,
    patchTypes: [...patches, 'application/apply-patch+yaml'],
    mentionsWatches: false,
    deleteCollection: { parameters: listing },
    getParameters: ['resourceVersion'],
    patchCreates: false,
    namesShownKind: false,
  },
}

/** All paths of a resource with their operations. */
export function resourcePaths(resource: Resource, discovered: DiscoveredResource): ApiPath[] {
  return new PathWriter(resource, discovered).paths()
}

/** Builds the operations of one resource, as endpoints/installer.go registers them. */
class PathWriter {
  readonly #resource: Resource
  readonly #discovered: DiscoveredResource
  readonly #namespaced: boolean
  readonly #definition: string
  readonly #group: string
  readonly #tag: string
  readonly #kind: OperationKind
  readonly #style: OperationStyle

  constructor(resource: Resource, discovered: DiscoveredResource) {
    const { group, version, kind, scope } = resource.kind
    this.#resource = resource
    this.#discovered = discovered
    this.#namespaced = scope === 'Namespaced'
    this.#definition = definitionName(resource.kind, resource.origin.name)
    this.#group = operationGroup(group) + capitalized(version)
    this.#tag = operationTag(group, version)
    this.#kind = { group, version, kind }
    this.#style = styles[resource.origin.name]
  }

  paths(): ApiPath[] {
    const { group, version, plural, kind } = this.#resource.kind
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const scope = this.#namespaced ? 'namespaces/{namespace}/' : ''
    const collection = `${root}/${scope}${plural}`
    const single = `${collection}/{name}`
    const found: ApiPath[] = [
      this.#path(collection, undefined, this.#collection()),
      this.#path(single, kind, this.#single()),
      ...this.#discovered.subresources.flatMap((sub) => this.#subresource(`${single}/${sub.name}`, sub)),
    ]
    const verbs = this.#discovered.verbs
    if (this.#namespaced && verbs.includes('list')) {
      found.push(this.#path(`${root}/${plural}`, undefined, [this.#list('ForAllNamespaces')]))
    }
    if (this.#style.mentionsWatches && verbs.includes('watch')) {
      found.push(
        this.#path(`${root}/watch/${scope}${plural}`, undefined, [this.#watch('List')], listing),
        this.#path(`${root}/watch/${scope}${plural}/{name}`, kind, [this.#watch('')], listing),
      )
      if (this.#namespaced) {
        found.push(this.#path(`${root}/watch/${plural}`, undefined, [this.#watch('ListForAllNamespaces')], listing))
      }
    }
    return found.filter(({ operations }) => operations.length > 0)
  }

  #path(
    path: string,
    named: string | undefined,
    operations: readonly ApiOperation[],
    parameters: readonly string[] = [],
  ): ApiPath {
    // Parameters that all operations share belong to the path.
    const [first] = operations
    const shared = (first?.parameters ?? []).filter((name) => operations.every((one) => one.parameters.includes(name)))
    const own = operations.map((one) => ({
      ...one,
      parameters: one.parameters.filter((name) => !shared.includes(name)),
    }))
    const common = [...new Set([...parameters, ...shared, 'pretty'])]
    return { path, ...(named === undefined ? {} : { named }), parameters: common, operations: own }
  }

  #collection(): ApiOperation[] {
    const { kind } = this.#kind
    const verbs = this.#discovered.verbs
    const found: ApiOperation[] = []
    if (verbs.includes('deletecollection')) {
      found.push({
        ...this.#operation(
          'delete',
          'deletecollection',
          `deleteCollection${this.#scoped}`,
          `delete collection of ${kind}`,
        ),
        ...this.#style.deleteCollection,
        responses: { 200: metaDefinition('Status') },
      })
    }
    if (verbs.includes('list')) found.push(this.#list(''))
    if (verbs.includes('create')) {
      found.push(
        this.#write('post', 'post', `create${this.#scoped}`, `create ${article(kind)} ${kind}`, this.#definition),
      )
    }
    return found
  }

  #list(suffix: string): ApiOperation {
    const { kind } = this.#kind
    const watchable = this.#style.mentionsWatches && this.#discovered.verbs.includes('watch')
    const scope = suffix === '' ? this.#scoped : kind + suffix
    return {
      ...this.#operation('get', 'list', `list${scope}`, `list ${watchable ? 'or watch ' : ''}objects of kind ${kind}`),
      parameters: listing,
      responses: { 200: this.#definition.replace(/[^.]+$/, this.#resource.kind.listKind) },
      produces: watchable ? streamed : this.#style.produces,
    }
  }

  #single(): ApiOperation[] {
    const { kind } = this.#kind
    const verbs = this.#discovered.verbs
    const found: ApiOperation[] = []
    if (verbs.includes('delete')) {
      const answer = this.#resource.strategy.returnDeletedObject ? this.#definition : metaDefinition('Status')
      found.push({
        ...this.#operation('delete', 'delete', `delete${this.#scoped}`, `delete ${article(kind)} ${kind}`),
        parameters: deleting,
        body: { options: metaDefinition('DeleteOptions') },
        responses: { 200: answer, 202: answer },
      })
    }
    return [...found, ...this.#readAndWrite(verbs, '', this.#definition, this.#kind)]
  }

  /** The operations get, patch and put of objects and most subresources. */
  #readAndWrite(
    verbs: readonly string[],
    subresource: string,
    definition: string,
    shown: OperationKind,
  ): ApiOperation[] {
    const target = `${subresource === '' ? '' : `${subresource} of `}the specified ${this.#kind.kind}`
    const suffix = this.#scoped + capitalized(subresource)
    const found: ApiOperation[] = []
    if (verbs.includes('get')) {
      found.push({
        ...this.#operation('get', 'get', `read${suffix}`, `read ${target}`),
        parameters: this.#style.getParameters,
        responses: { 200: subresource === 'log' ? 'string' : definition },
        ...(subresource === 'log' ? { parameters: logging, produces: ['text/plain', ...served] } : {}),
      })
    }
    if (verbs.includes('patch')) {
      found.push({
        ...this.#operation('patch', 'patch', `patch${suffix}`, `partially update ${target}`),
        parameters: [...writing, 'force'],
        body: { patch: this.#style.patchTypes },
        responses: { 200: definition, ...(this.#style.patchCreates ? { 201: definition } : {}) },
      })
    }
    if (verbs.includes('update')) {
      const { 202: _, ...responses } = this.#write('put', 'put', '', '', definition).responses
      found.push({ ...this.#write('put', 'put', `replace${suffix}`, `replace ${target}`, definition), responses })
    }
    return found.map((operation) => ({ ...operation, kind: shown }))
  }

  #subresource(path: string, sub: DiscoveredSubresource): ApiPath[] {
    const { kind } = this.#kind
    if (Object.hasOwn(connecting, sub.name) && sub.responseKind.kind.endsWith('Options'))
      return this.#connect(path, sub)
    const own = sub.responseKind.kind === kind
    const shown: OperationKind = own
      ? this.#kind
      : {
          group: sub.responseKind.group || this.#kind.group,
          version: sub.responseKind.version || this.#kind.version,
          kind: sub.responseKind.kind,
        }
    const definition = own ? this.#definition : definitionName(shown, 'builtin')
    const named = this.#style.namesShownKind ? shown : this.#kind
    const operations = this.#readAndWrite(sub.verbs, sub.name, definition, named)
    if (sub.verbs.includes('create')) {
      const id = `create${this.#scoped}${capitalized(sub.name)}`
      const description = `create ${sub.name} of ${article(kind)} ${kind}`
      operations.push({ ...this.#write('post', 'post', id, description, definition), kind: named })
    }
    return [this.#path(path, shown.kind, operations)]
  }

  /** The operations of streams and proxies, one for each method. */
  #connect(path: string, sub: DiscoveredSubresource): ApiPath[] {
    const { group, version } = this.#kind
    const shown = { group, version, kind: sub.responseKind.kind }
    const suffix = this.#scoped + capitalized(sub.name)
    const operations = (more: string): ApiOperation[] =>
      methods
        .filter((method) => sub.name === 'proxy' || method === 'get' || method === 'post')
        .map((method) => ({
          ...this.#operation(
            method,
            'connect',
            `connect${capitalized(method)}${suffix}${more}`,
            `connect ${method.toUpperCase()} requests to ${sub.name} of ${this.#kind.kind}`,
          ),
          kind: shown,
          responses: { 200: 'string' },
          produces: ['*/*'],
        }))
    const parameters = connecting[sub.name]!
    const found: ApiPath[] = [{ path, named: shown.kind, parameters, operations: operations('') }]
    if (sub.name === 'proxy') {
      found.push({ path: `${path}/{path}`, named: shown.kind, parameters, operations: operations('WithPath') })
    }
    return found
  }

  #watch(suffix: string): ApiOperation {
    const { kind } = this.#kind
    const list = suffix !== ''
    const scope = suffix === 'ListForAllNamespaces' ? kind : this.#scoped
    return {
      ...this.#operation(
        'get',
        list ? 'watchlist' : 'watch',
        `watch${scope}${suffix}`,
        `watch ${list ? 'a list' : 'an object'} of kind ${kind}; deprecated: use the parameter watch of a list instead`,
      ),
      responses: { 200: metaDefinition('WatchEvent') },
      produces: streamed,
    }
  }

  #write(
    method: ApiOperation['method'],
    action: string,
    id: string,
    description: string,
    definition: string,
  ): ApiOperation {
    return {
      ...this.#operation(method, action, id, description),
      parameters: writing,
      body: { definition },
      responses: { 200: definition, 201: definition, 202: definition },
    }
  }

  /** An operation without parameters. The group follows the verb in the id, as in `readCoreV1NamespacedPod`. */
  #operation(method: ApiOperation['method'], action: string, id: string, description: string): ApiOperation {
    const at = id.search(/[A-Z]|$/)
    return {
      method,
      id: id.slice(0, at) + this.#group + id.slice(at),
      description,
      tag: this.#tag,
      action,
      kind: this.#kind,
      parameters: [],
      responses: {},
      produces: this.#style.produces,
      ...(this.#style.consumes ? { consumes: this.#style.consumes } : {}),
    }
  }

  get #scoped(): string {
    return (this.#namespaced ? 'Namespaced' : '') + this.#kind.kind
  }
}

function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? 'an' : 'a'
}
