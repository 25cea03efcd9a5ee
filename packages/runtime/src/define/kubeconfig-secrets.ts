import { isDeleting, parseKey } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { Secret } from '@kubewright/k8s/core/v1'
import { can } from '../controller/access-rule.ts'
import { defineKeyController, type KeyContext } from '../controller/key-controller.ts'
import { kindSource } from '../controller/sources/kind-source.ts'
import type { ClusterHost, ClusterProvider } from './cluster-provider.ts'
import { type LabelSelection, selectorText } from './watched-kinds.ts'

/** Options of {@link kubeconfigSecrets}. */
export interface KubeconfigSecretsOptions {
  /** The namespace of the Secrets. */
  readonly namespace: string
  /** Which Secrets of the namespace contain a kubeconfig. */
  readonly selector: LabelSelection
  /** The key of the kubeconfig in the Secret. @default 'kubeconfig' */
  readonly key?: string | undefined
  /** The maximum number of clusters that are connected at a time. @default 16 */
  readonly concurrency?: number | undefined
  /** Connects to a cluster. @default with the current context of the kubeconfig, which must not refer to files or programs */
  readonly connect?: ((kubeconfig: string, secret: Secret) => ApiClient | Promise<ApiClient>) | undefined
}

/**
 * A provider of clusters: each matching Secret is a cluster with the name of the Secret. A changed kubeconfig reconnects
 * the cluster; a deleted Secret, or one that no longer matches, disengages it. A cluster that does not respond is retried
 * with back-off and does not affect the others.
 */
export function kubeconfigSecrets(options: KubeconfigSecretsOptions): ClusterProvider {
  const { namespace, key: field = 'kubeconfig', concurrency = 16 } = options
  const labelSelector = selectorText(options.selector)
  const start = (host: ClusterHost) => {
    // The version of the kubeconfig with which each cluster is engaged.
    const engaged = new Map<string, string>()
    const disengage = async (name: string, log: KeyContext['log']): Promise<void> => {
      if (!engaged.delete(name)) return
      await host.disengage(name)
      log.info('Cluster disengaged', { cluster: name })
    }
    return defineKeyController({
      name: 'kubeconfig-secrets',
      kind: Secret,
      sources: [kindSource(Secret, { scope: { namespaces: [namespace], labelSelector } })],
      concurrency,
      needsLeader: false,
      clusters: 'main',
      reconcile: async (key, { client, log }) => {
        const { name } = parseKey(key)
        const fields = { 'metadata.name': name }
        const [secret] = await client.list(Secret, { namespace, selector: labelSelector, fields })
        const encoded = secret?.data?.[field]
        if (secret === undefined || isDeleting(secret) || encoded === undefined) {
          if (secret !== undefined && encoded === undefined) log.info('Secret has no kubeconfig', { key: field })
          return disengage(name, log)
        }
        if (engaged.get(name) === encoded) return
        await disengage(name, log)
        const text = Buffer.from(encoded, 'base64').toString()
        const connect = options.connect ?? (await selfContained(`Secret ${key}`, host.clock))
        const api = await connect(text, secret)
        await host.engage(name, api)
        engaged.set(name, encoded)
        log.info('Cluster engaged', { cluster: name })
      },
    })
  }
  return Object.freeze({
    name: 'kubeconfig-secrets',
    namespace,
    rbac: Object.freeze([can(Secret, 'get', 'list', 'watch')]),
    start,
  })
}

/** Connects with the client, which is loaded here: a program that only defines an operator does not need it. */
async function selfContained(source: string, clock: Clock): Promise<(text: string) => ApiClient> {
  const { connectSelfContained } = await import('./connect-self-contained.ts')
  return (text) => connectSelfContained(text, source, clock)
}
