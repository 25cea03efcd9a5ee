import { ApiError } from '@kubewright/api'
import { errorText, isJsonObject } from '@kubewright/base'
import { type ApiClient, ConfigError, ConnectionError, CredentialsError } from '@kubewright/client'
import type { Finding } from './finding.ts'

/**
 * Checks that a kubeconfig exists and is usable. The result contains a client if it is; the caller disposes it. A machine
 * without a cluster is no failure, unless the user `named` a kubeconfig or a context.
 */
export async function checkKubeconfig(
  connect: () => Promise<ApiClient>,
  named: boolean,
): Promise<{ readonly findings: Finding[]; readonly client?: ApiClient | undefined }> {
  const check = 'Kubeconfig'
  try {
    const client = await connect()
    const { host } = client.rest.transport
    return { findings: [{ check, level: 'ok', message: `${host}, namespace ${client.namespace}` }], client }
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof CredentialsError)) throw error
    const fix = 'name one with --kubeconfig or KUBECONFIG, or start a control plane on this machine with kubewright up'
    const isAbsent = !named && error.code === 'KW_NO_CLUSTER'
    if (!isAbsent) return { findings: [{ check, level: 'failed', message: error.message, fix }] }
    const message = 'there is no kubeconfig, so the checks of the cluster were skipped'
    return { findings: [{ check, level: 'skipped', message, fix }] }
  }
}

/** Checks that the API server answers. Reports its version and the user. */
export async function checkCluster(client: ApiClient, signal: AbortSignal): Promise<Finding[]> {
  const check = 'Cluster'
  try {
    const version = await client.rest.json({ method: 'GET', path: '/version', timeout: '10s', signal })
    const git = isJsonObject(version) ? String(version['gitVersion']) : 'an unknown version'
    return [{ check, level: 'ok', message: `answers, Kubernetes ${git}${await whoAmI(client, signal)}` }]
  } catch (error) {
    signal.throwIfAborted()
    const message = errorText(error)
    return [{ check, level: 'failed', message, fix: fixOf(error, client.rest.transport.host) }]
  }
}

async function whoAmI(client: ApiClient, signal: AbortSignal): Promise<string> {
  try {
    const review = await client.rest.json({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
      signal,
    })
    const status = isJsonObject(review) ? review['status'] : undefined
    const user = isJsonObject(status) ? status['userInfo'] : undefined
    return isJsonObject(user) ? `, as ${String(user['username'])}` : ''
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // Older servers do not serve SelfSubjectReviews.
    return ''
  }
}

function fixOf(error: unknown, host: string): string {
  if (error instanceof ApiError && error.statusCode === 401)
    return 'the cluster rejects the credentials of the kubeconfig: log in again, or get a new kubeconfig'
  if (error instanceof ApiError && error.statusCode === 403)
    return 'the user of the kubeconfig may not read /version: use another user'
  if (error instanceof CredentialsError)
    return 'make sure that the user of the kubeconfig can log in: try kubectl version'
  if (error instanceof ConnectionError && error.isUntrusted)
    return `the kubeconfig does not trust ${host}: add the certificate authority of this cluster to it`
  switch (error instanceof ConnectionError ? error.systemCode : undefined) {
    case 'ECONNREFUSED':
      return `no server listens at ${host}: start the cluster, or select another context`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `the host name in ${host} cannot be resolved: check the name, the network and the VPN`
  }
  if (host.startsWith('http:')) return 'the kubeconfig uses http, but API servers require https: change the URL'
  return `check that ${host} is reachable: network, VPN, proxy (HTTPS_PROXY, NO_PROXY)`
}
