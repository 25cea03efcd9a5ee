import { X509Certificate } from 'node:crypto'
import { isForbidden, isNotFound } from '@kubewright/api'
import { type Clock, isJsonObject } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Finding } from './finding.ts'

type Json = Readonly<Record<string, unknown>>

/** A webhook that the API server calls. */
interface Hook {
  /** Its name and its configuration. */
  readonly name: string
  readonly clientConfig: Json
  /** Whether requests fail if it cannot be called. */
  readonly isVital: boolean
}

const check = 'Webhooks'

/** Checks that the API server can call all registered webhooks: their services, endpoints and certificates. */
export async function checkWebhooks(client: ApiClient, clock: Clock, signal: AbortSignal): Promise<Finding[]> {
  let hooks: Hook[]
  try {
    hooks = await allHooks(client, signal)
  } catch (error) {
    if (!isForbidden(error)) throw error
    return [{ check, level: 'skipped', message: 'no permission to list webhook configurations' }]
  }
  const findings: Finding[] = []
  for (const hook of hooks) {
    const problem = certificateProblem(hook, clock) ?? (await serviceProblem(client, hook, signal))
    if (problem === undefined) continue
    findings.push({ check, level: hook.isVital ? 'failed' : 'warning', ...problem })
  }
  if (findings.length > 0) return findings
  return [{ check, level: 'ok', message: hooks.length === 0 ? 'none' : `${hooks.length} have ready endpoints` }]
}

async function allHooks(client: ApiClient, signal: AbortSignal): Promise<Hook[]> {
  const list = async (path: string): Promise<Json[]> => {
    const answer = await client.rest.json({ method: 'GET', path, signal })
    return isJsonObject(answer) && Array.isArray(answer['items']) ? answer['items'].filter(isJsonObject) : []
  }
  const hooks: Hook[] = []
  for (const plural of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    for (const configuration of await list(`/apis/admissionregistration.k8s.io/v1/${plural}`)) {
      const { webhooks } = configuration
      for (const hook of Array.isArray(webhooks) ? webhooks.filter(isJsonObject) : []) {
        const { name, clientConfig, failurePolicy } = hook
        hooks.push({
          name: `${String(name)} of ${plural}/${nameOf(configuration)}`,
          clientConfig: isJsonObject(clientConfig) ? clientConfig : {},
          isVital: failurePolicy !== 'Ignore',
        })
      }
    }
  }
  for (const crd of await list('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')) {
    const clientConfig = at(crd, 'spec', 'conversion', 'webhook', 'clientConfig')
    if (isJsonObject(clientConfig))
      hooks.push({ name: `The conversion of ${nameOf(crd)}`, clientConfig, isVital: true })
  }
  return hooks
}

const nameOf = (object: Json): string => String(at(object, 'metadata', 'name'))

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, name) => (isJsonObject(inner) ? inner[name] : undefined), value)
}

type Problem = Pick<Finding, 'message' | 'fix'>

function certificateProblem({ name, clientConfig }: Hook, clock: Clock): Problem | undefined {
  const { caBundle } = clientConfig
  if (typeof caBundle !== 'string' || caBundle === '') {
    // A URL may have a publicly trusted certificate, but a service of the cluster cannot.
    if (clientConfig['service'] === undefined) return undefined
    const fix = 'the operator or cert-manager must set caBundle: check that it runs'
    return { message: `${name} has no caBundle, so the API server does not trust its certificate`, fix }
  }
  try {
    const { validTo } = new X509Certificate(Buffer.from(caBundle, 'base64'))
    if (Date.parse(validTo) > clock.now()) return undefined
    return { message: `${name} has a caBundle that expired on ${validTo}`, fix: 'renew the certificate' }
  } catch {
    return {
      message: `${name} has a caBundle that is not a certificate`,
      fix: 'set it to the PEM of the CA, in base64',
    }
  }
}

async function serviceProblem(client: ApiClient, hook: Hook, signal: AbortSignal): Promise<Problem | undefined> {
  const { service } = hook.clientConfig
  if (!isJsonObject(service)) return undefined
  const [namespace, name] = [String(service['namespace']), String(service['name'])]
  const shown = `${namespace}/${name}`
  const inNamespace = `namespaces/${encodeURIComponent(namespace)}`
  try {
    await client.rest.json({
      method: 'GET',
      path: `/api/v1/${inNamespace}/services/${encodeURIComponent(name)}`,
      signal,
    })
    const query = new URLSearchParams({ labelSelector: `kubernetes.io/service-name=${name}` })
    const path = `/apis/discovery.k8s.io/v1/${inNamespace}/endpointslices`
    const slices = await client.rest.json({ method: 'GET', path, query, signal })
    if (hasReady(slices)) return undefined
    const fix = `check its pods with kubectl -n ${namespace} get pods`
    return { message: `${hook.name} is served by ${shown}, which has no ready endpoint`, fix }
  } catch (error) {
    if (isNotFound(error)) {
      const fix = 'deploy the operator that it belongs to, or delete the configuration'
      return { message: `${hook.name} is served by ${shown}, which does not exist`, fix }
    }
    // Without the permission to read the service, it cannot be checked.
    if (isForbidden(error)) return undefined
    throw error
  }
}

function hasReady(slices: unknown): boolean {
  const items = at(slices, 'items')
  return (
    Array.isArray(items) &&
    items.some((slice) => {
      const endpoints = at(slice, 'endpoints')
      // An absent condition means ready.
      return Array.isArray(endpoints) && endpoints.some((one) => at(one, 'conditions', 'ready') !== false)
    })
  )
}
