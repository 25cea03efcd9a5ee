import { newBadRequest, newUnsupportedMediaType, parseJson, parseYaml } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { GoDecodeError, typeMetaMismatch, typeMetaProblem } from '../../codec/json/go-codec.ts'
import { decodeMessage, openEnvelope } from '../../codec/protobuf/envelope.ts'
import type { ServedRelease } from '../../codec/served-release.ts'
import type { DeleteOptions } from '../../registry/deletion.ts'
import { checkBody, mediaTypeOf, readBody } from '../../request/body.ts'
import { isServed, type MediaType, servedTypes } from '../../request/negotiate.ts'
import type { RequestContext } from '../../request/request-context.ts'
import { isTrue } from '../../request/request-info.ts'
import { integerParameter } from '../../request/write-options.ts'
import { yamlTextOf } from '../../request/yaml-text.ts'

/** Reads the options of a delete from the body, or from the query when there is no body. */
export async function readDeleteOptions(context: RequestContext, release: ServedRelease): Promise<DeleteOptions> {
  const body = await readBody(context)
  if (body.length === 0) return queryOptions(context.request.query)
  const type = mediaTypeOf(context)
  if (!isServed(type)) throw newUnsupportedMediaType(servedTypes)
  const value = parseDeleteOptions(release, body, type)
  checkBody(context, value)
  if (value !== null && (typeof value !== 'object' || Array.isArray(value))) {
    throw newBadRequest(`couldn't get version/kind; json parse error: ${typeMetaMismatch(value)}`)
  }
  const { kind, apiVersion } = (value ?? {}) as { kind?: unknown; apiVersion?: unknown }
  const problem = typeMetaProblem({ kind, apiVersion })
  if (problem !== undefined) throw newBadRequest(problem)
  // Any apiVersion is accepted: clients send the options in the version of their group.
  if (typeof kind === 'string' && kind !== '' && kind !== 'DeleteOptions') {
    const scheme = 'k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27'
    throw newBadRequest(
      `no kind ${goQuote(kind)} is registered for version ${goQuote(String(apiVersion ?? ''))} in scheme ${goQuote(scheme)}`,
    )
  }
  try {
    const options = release.json.decode('meta/v1.DeleteOptions', value) as DeleteOptions
    // kube-apiserver writes the internal version to its audit log.
    context.auditRecord?.requestBody(() => ({
      ...options,
      kind: 'DeleteOptions',
      apiVersion: 'meta.k8s.io/__internal',
    }))
    return options
  } catch (error) {
    throw error instanceof GoDecodeError ? newBadRequest(error.message) : error
  }
}

function parseDeleteOptions(release: ServedRelease, body: Uint8Array, type: MediaType): unknown {
  const isProtobuf = type === 'application/vnd.kubernetes.protobuf'
  try {
    if (isProtobuf) {
      const { apiVersion, kind, message } = openEnvelope(body)
      return { apiVersion, kind, ...decodeMessage(release, 'meta/v1.DeleteOptions', message) }
    }
    return type === 'application/yaml' ? parseYaml(yamlTextOf(body)) : parseJson(body)
  } catch (error) {
    const syntax = isProtobuf ? '' : `couldn't get version/kind; json parse error: `
    throw newBadRequest(`${syntax}${(error as Error).message}`)
  }
}

function queryOptions(query: URLSearchParams): DeleteOptions {
  const grace = integerParameter(query, 'gracePeriodSeconds')
  const policy = query.get('propagationPolicy')
  const orphan = query.get('orphanDependents')
  const dryRun = query.getAll('dryRun')
  const ignore = query.get('ignoreStoreReadErrorWithClusterBreakingPotential')
  const [uid, resourceVersion] = [query.get('uid'), query.get('resourceVersion')]
  const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null || policy === '' ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: isTrue(orphan) }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
    ...(ignore === null ? {} : { ignoreStoreReadErrorWithClusterBreakingPotential: isTrue(ignore) }),
    ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
  }
}
