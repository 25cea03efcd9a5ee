import { crdOf, isApiError } from '@kubewright/api'
import { type AsyncDisposer, type Clock, KubewrightError, type Logger, systemRandom, uuid } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import {
  type ApiClient,
  type ClientConfig,
  type ContextChoice,
  loadClientConfig,
  loadKubeconfig,
} from '@kubewright/client'
import {
  ClusterRole,
  ClusterRoleBinding,
  CustomResourceDefinition,
  Namespace,
  SubjectAccessReview,
} from '@kubewright/k8s'
import {
  certificateSource,
  createWebhookHandler,
  type Operator,
  registerLocally,
  serveWebhooks,
  type WebhookHandler,
  type WebhookRegistration,
} from '@kubewright/runtime'
import { type Installed, installKinds } from './install-kinds.ts'
import { rightsOf } from './operator-rights.ts'
import { watchObject } from './watch-object.ts'

/** The label of everything that environments create on a cluster, for manual clean-up. */
const testLabel = 'kubewright.dev/test'

/** The environment variable that names a kubeconfig file, or a context of the default kubeconfig. */
export const clusterVariable = 'KUBEWRIGHT_TEST_CLUSTER'
/** The environment variable with the address at which the API server reaches this machine. */
const webhookHostVariable = 'KUBEWRIGHT_TEST_WEBHOOK_HOST'

/** Loads the configuration of the cluster that {@link clusterVariable} names. */
export async function clusterConfig(wanted: string): Promise<ClientConfig> {
  const inDefault = await loadKubeconfig(undefined).catch(() => undefined)
  const choice: ContextChoice & { kubeconfig?: string | undefined } = inDefault?.contexts.has(wanted)
    ? { context: wanted }
    : { kubeconfig: wanted }
  try {
    return await loadClientConfig(choice)
  } catch (cause) {
    throw new KubewrightError(
      'KW_TEST_CLUSTER',
      `Cannot load the cluster that ${clusterVariable}=${wanted} names: set it to a context of the kubeconfig or to a kubeconfig file, or unset it to use the embedded control plane`,
      { cause },
    )
  }
}

/** Creates the namespace of an environment. Its disposal deletes the namespace and waits, while the operator still runs. */
export async function ownNamespace(
  admin: ApiClient,
  prefix: string,
  clock: Clock,
): Promise<AsyncDisposable & { readonly name: string }> {
  const name = `${prefix.slice(0, 40)}-${uuid(systemRandom).slice(0, 8)}`
  await admin.create(Namespace({ metadata: { name, labels: { [testLabel]: 'true' } } }))
  return {
    name,
    async [Symbol.asyncDispose]() {
      await admin.delete(Namespace, name)
      const limit = new AbortController()
      const timer = clock.setTimer(60_000, () => limit.abort(new Error(`Namespace ${name} was not deleted in time`)))
      try {
        await watchObject(admin, Namespace, name, (sight) => sight === undefined, {
          namespace: '',
          signal: limit.signal,
        })
      } finally {
        timer.cancel()
      }
    },
  }
}

/** Installs the kinds of an operator. They stay installed: other test processes may use them. */
export function installOnCluster(admin: ApiClient, operator: Operator | undefined, more: Installed): Promise<void> {
  return installKinds(admin, operator, more, { [testLabel]: 'true' })
}

/** Grants the operator its permissions until the environment is disposed. Resolves when the server authorizes by them. */
export async function grantOnCluster(
  operator: Operator,
  admin: ApiClient,
  suffix: string,
  clock: Clock,
  disposer: AsyncDisposer,
): Promise<{ readonly user: string; readonly groups: readonly string[] }> {
  const { user, groups, rules } = rightsOf(operator)
  const metadata = { name: `${operator.name}-${suffix}`, labels: { [testLabel]: 'true' } }
  const apiGroup = 'rbac.authorization.k8s.io'
  await admin.create(ClusterRole({ metadata, rules }))
  disposer.defer(() => admin.delete(ClusterRole, metadata.name))
  await admin.create(
    ClusterRoleBinding({
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    }),
  )
  disposer.defer(() => admin.delete(ClusterRoleBinding, metadata.name))
  const rule = rules.find(({ resources = [], verbs }) => resources.length > 0 && verbs.length > 0)
  const [group = ''] = rule?.apiGroups ?? []
  const [resource = '', subresource = ''] = rule?.resources?.[0]?.split('/') ?? []
  const attributes = { group, resource, subresource, verb: rule?.verbs[0] ?? 'get' }
  for (let attempt = 0; attempt < 100 && rule !== undefined; attempt++) {
    const asked = SubjectAccessReview({ spec: { user, groups: [...groups], resourceAttributes: attributes } })
    const { status } = await admin.create(asked)
    if (status?.allowed) break
    await clock.sleep(100)
  }
  return { user, groups }
}

/** What {@link webhooksOnCluster} needs. */
export interface ClusterWebhooksParts {
  readonly admin: ApiClient
  readonly client: ApiClient
  readonly server: string
  readonly namespace: string
  readonly clock: Clock
  readonly log: Logger
}

/** Why the API server at a URL cannot call webhooks in this process; undefined when it can. */
export function unreachableWebhooks(server: string): string | undefined {
  if (webhookHost(server) !== undefined) return undefined
  return `the API server at ${server} cannot call webhooks in this process: set ${webhookHostVariable} to an address of this machine that it can reach`
}

function webhookHost(server: string): string | undefined {
  const given = process.env[webhookHostVariable]
  if (given !== undefined && given !== '') return given
  const { hostname } = new URL(server)
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.') ? '127.0.0.1' : undefined
}

/**
 * Serves the operator's webhooks in this process, for objects in the namespace of the environment, until the disposer is
 * disposed. Resolves to the registration of the admission webhooks, which must end before the namespace is deleted: they
 * could refuse the deletion of its objects.
 */
export async function webhooksOnCluster(
  operator: Operator,
  disposer: AsyncDisposer,
  { admin, client, server, namespace, clock, log }: ClusterWebhooksParts,
): Promise<AsyncDisposable> {
  const host = webhookHost(server)!
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } }
  const limited = (registration: WebhookRegistration | undefined) =>
    registration && { ...registration, namespaceSelector }
  const webhooks = operator.webhooks.map((webhook) =>
    webhook.type === 'token' || webhook.type === 'access'
      ? webhook
      : { ...webhook, defaulting: limited(webhook.defaulting), validation: limited(webhook.validation) },
  )
  const { conversions } = operator
  const handler = createWebhookHandler({ webhooks, conversions, client, clock, log })
  // The path names the environment, so that others can tell whether its conversions still work.
  const prefix = `${pathPrefix}${namespace}`
  const withoutPrefix: WebhookHandler = (request) =>
    handler({ ...request, path: request.path.startsWith(prefix) ? request.path.slice(prefix.length) : request.path })
  const now = clock.now()
  const authority = CertificateAuthority.create({ commonName: 'webhooks of a test', now })
  const certificate = certificateSource(new CertificateAuthority(authority).issueServing({ now, hosts: [host] }))
  const listen = host === '127.0.0.1' ? host : '0.0.0.0'
  const { port } = disposer.use(
    await serveWebhooks({ handler: withoutPrefix, certificate, port: 0, host: listen, log }),
  )
  const owner = { ...operator, name: namespace, webhooks }
  const url = `https://${host}:${port}${prefix}`
  // All environments share the CRDs: the conversions of one that has ended must not come back.
  await dropDeadConversions(admin, operator)
  disposer.defer(() => dropDeadConversions(admin, operator, namespace))
  const at = { client: admin, url, caBundle: authority.cert, log }
  disposer.use(await registerLocally({ ...owner, webhooks: [] }, at))
  return registerLocally({ ...owner, conversions: [] }, at)
}

const pathPrefix = '/kubewright-test/'

/**
 * Removes conversions of environments that have ended, or of `own`. A test process that was killed leaves the address of
 * its conversion in the CRD, and the API server could then not read objects of other versions.
 */
async function dropDeadConversions(admin: ApiClient, { conversions }: Operator, own?: string): Promise<void> {
  for (const { hub } of conversions) {
    const { name } = crdOf(hub).metadata
    const crd = await admin.find(CustomResourceDefinition, name)
    const url = crd?.spec.conversion?.webhook?.clientConfig?.url
    if (crd === undefined || url === undefined) continue
    const [, owner] = new URL(url).pathname.split(pathPrefix)
    const namespace = owner?.split('/')[0]
    if (namespace === undefined) continue
    const found = namespace === own ? undefined : await admin.find(Namespace, namespace)
    if (found !== undefined && found.metadata.deletionTimestamp === undefined) continue
    const path = '/spec/conversion'
    const patch = [
      // Another environment may have registered its conversion in the meantime.
      { op: 'test' as const, path: `${path}/webhook/clientConfig/url`, value: url },
      { op: 'replace' as const, path, value: { strategy: 'None' } },
    ]
    await admin.patch(CustomResourceDefinition, name, patch).catch((error: unknown) => {
      if (!isApiError(error)) throw error
    })
  }
}

/** Rejects with a clear error when the cluster does not respond. */
export async function requireCluster(admin: ApiClient, server: string): Promise<void> {
  try {
    await admin.get(Namespace, 'default')
  } catch (cause) {
    const why = isApiError(cause) ? cause.message : 'it does not respond'
    throw new KubewrightError('KW_TEST_CLUSTER', `Cannot use ${server} of ${clusterVariable}: ${why}`, { cause })
  }
}
