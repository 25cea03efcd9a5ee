import { newBadRequest, newConflict, newInvalid, newNotFound, parseGroupVersion } from '@kubewright/api'
import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import { FieldPath, invalid } from '@kubewright/schema'
import type { BoundReference, ServiceAccountTokens, TokenSpec } from '../../../auth/service-account-tokens.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import type { BuiltinServer } from '../../define-builtin.ts'
import { type PostedObject, postSubresource, type ZeroObject } from '../../subresources/post-subresource.ts'

const group = 'authentication.k8s.io'
const kindName = 'TokenRequest'
const minimumSeconds = 10 * 60
const maximumSeconds = 2 ** 32
/**
 * The lifetime that kubelets request for pods. Older client libraries do not reload tokens, so the server extends this lifetime to
 * `extendedToSeconds` and marks the token to warn about use after the requested one.
 */
const extendedForSeconds = 60 * 60 + 7
const extendedToSeconds = 365 * 24 * 60 * 60

interface TokenRequestSpec {
  audiences?: string[] | null | undefined
  expirationSeconds?: number | undefined
  boundObjectRef?:
    | {
        kind?: string | undefined
        apiVersion?: string | undefined
        name?: string | undefined
        uid?: string | undefined
      }
    | null
    | undefined
}

/** The subresource token of service accounts, which issues a token for a TokenRequest (serviceaccount/storage/token.go). */
export function tokenSubresource(server: BuiltinServer, tokens: ServiceAccountTokens): Subresource {
  const kind = { group, version: 'v1', kind: kindName }
  return postSubresource(server, { name: 'token', kind, setDefaults, emptyObject: withNullReference }, (posted) =>
    new TokenRequestHandler(server, tokens, posted).answer(),
  )
}

/** Adds the null that Go's encoder writes for a missing reference. */
function withNullReference(zero: ZeroObject): ZeroObject {
  return { ...zero, spec: { ...(zero['spec'] as object | undefined), boundObjectRef: null } }
}

/** Tokens are valid for an hour by default. */
function setDefaults(request: MutableObject): void {
  const spec = (request['spec'] ??= {}) as TokenRequestSpec
  spec.expirationSeconds ??= 3600
}

/** Answers one request for a token. */
class TokenRequestHandler {
  readonly #server: BuiltinServer
  readonly #tokens: ServiceAccountTokens
  readonly #posted: PostedObject

  constructor(server: BuiltinServer, tokens: ServiceAccountTokens, posted: PostedObject) {
    this.#server = server
    this.#tokens = tokens
    this.#posted = posted
  }

  async answer(): Promise<MutableObject> {
    const { context, resource, object: request, admit } = this.#posted
    const { name, namespace } = context.info
    const { metadata } = request
    if (metadata.name && metadata.name !== name) {
      const text = 'must match the service account name if specified'
      throw newInvalid({ group, kind: kindName }, name, [
        invalid(FieldPath.of('metadata', 'name'), metadata.name, text),
      ])
    }
    const account = await this.#server.registry.find(resource, namespace, name)
    if (!account) throw newNotFound({ group: '', resource: 'serviceaccounts' }, name)
    const uid = account.object.metadata.uid ?? ''
    if (metadata.uid && metadata.uid !== uid) {
      const why = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`
      throw newConflict({ group, resource: kindName }, name, why)
    }
    const now = this.#server.clock.now()
    const spec = request['spec'] as TokenRequestSpec
    if (!spec.audiences?.length) spec.audiences = [...this.#tokens.audiences]
    spec.boundObjectRef ??= null
    Object.assign(metadata, { name, namespace, uid, creationTimestamp: formatRFC3339(instantFromMillis(now)) })
    delete request['status']
    validateExpiration(spec.expirationSeconds ?? 0)
    await admit()

    const bound = await this.#boundObject(spec)
    const { token, id } = this.#tokens.issue({
      serviceAccount: { namespace, name, uid },
      ...bound,
      audiences: spec.audiences,
      ...this.#lifetime(spec, bound.pod !== undefined),
    })
    context.audit.set('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`)
    const expirationTimestamp = formatRFC3339(instantFromMillis(now + (spec.expirationSeconds ?? 0) * 1000))
    return { ...request, status: { token, expirationTimestamp } }
  }

  #lifetime(spec: TokenRequestSpec, forPod: boolean): Pick<TokenSpec, 'expirationSeconds' | 'warnAfterSeconds'> {
    const expirationSeconds = spec.expirationSeconds ?? 0
    const forApi = (spec.audiences ?? []).every((audience) => this.#tokens.audiences.includes(audience))
    if (!forPod || !forApi || expirationSeconds !== extendedForSeconds) return { expirationSeconds }
    return { expirationSeconds: extendedToSeconds, warnAfterSeconds: expirationSeconds }
  }

  /** Reads the object that the token is bound to. The token becomes invalid with the object's deletion. */
  async #boundObject({ boundObjectRef: ref }: TokenRequestSpec): Promise<Pick<TokenSpec, 'pod' | 'node' | 'secret'>> {
    if (!ref) return {}
    const { namespace, name } = this.#posted.context.info
    const { kind = '', apiVersion = '' } = ref
    const of = groupVersionOf(apiVersion)
    if (of.group !== '' || !['Pod', 'Node', 'Secret'].includes(kind)) {
      const shown = `${of.group}/${of.version}, Kind=${kind}`
      throw newBadRequest(`cannot bind token to object of type ${shown}`)
    }
    const plural = `${kind.toLowerCase()}s`
    if (!ref.name) throw newBadRequest('Name parameter required.')
    const object = await this.#get(plural, kind === 'Node' ? '' : namespace, ref.name)
    let node: BoundReference | undefined
    if (kind === 'Pod') {
      const { serviceAccountName, nodeName } = (object['spec'] ?? {}) as {
        serviceAccountName?: string | undefined
        nodeName?: string | undefined
      }
      if (serviceAccountName !== name) {
        const who = JSON.stringify(name)
        throw newBadRequest(
          `cannot bind token for serviceaccount ${who} to pod running with different serviceaccount name.`,
        )
      }
      if (nodeName) node = await this.#nodeOf(nodeName)
    }
    const uid = object.metadata.uid ?? ''
    if (ref.uid && ref.uid !== uid) {
      const why = `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`
      throw newConflict({ group: '', resource: kind }, ref.name, why)
    }
    const reference = { name: object.metadata.name ?? '', uid }
    if (kind === 'Pod') return { pod: reference, ...(node ? { node } : {}) }
    return kind === 'Node' ? { node: reference } : { secret: reference }
  }

  async #get(plural: string, namespace: string, name: string): Promise<Readonly<MutableObject>> {
    const resource = this.#server.resources.find('', 'v1', plural)
    const found = resource && (await this.#server.registry.find(resource, namespace, name))
    if (!found) throw newNotFound({ group: '', resource: plural }, name)
    return found.object
  }

  /** The reference to the node of a pod; without uid if the node does not exist. */
  async #nodeOf(name: string): Promise<BoundReference> {
    const nodes = this.#server.resources.find('', 'v1', 'nodes')
    const found = nodes && (await this.#server.registry.find(nodes, '', name))
    const uid = found?.object.metadata.uid
    return { name, ...(uid === undefined ? {} : { uid }) }
  }
}

function validateExpiration(seconds: number): void {
  const path = FieldPath.of('spec', 'expirationSeconds')
  const problem =
    seconds < minimumSeconds
      ? 'may not specify a duration less than 10 minutes'
      : seconds > maximumSeconds
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined
  if (problem !== undefined) throw newInvalid({ group, kind: kindName }, '', [invalid(path, seconds, problem)])
}

/** Parses an apiVersion. A malformed one counts as empty, as in schema.FromAPIVersionAndKind. */
function groupVersionOf(apiVersion: string): { readonly group: string; readonly version: string } {
  try {
    return parseGroupVersion(apiVersion)
  } catch {
    return { group: '', version: '' }
  }
}
