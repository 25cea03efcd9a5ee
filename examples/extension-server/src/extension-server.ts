import { CertificateAuthority, createExtensionServer, listen } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { greetings, group } from './greetings.ts'

/** A running extension server and the manifests that register it with the main API server. */
export interface RunningExtension extends AsyncDisposable {
  readonly port: number
  /** The Service and the APIService to create. */
  readonly manifests: readonly object[]
}

const service = { name: 'hello', namespace: 'default' }

/**
 * Starts an API server for greetings. `proxyCa` is the CA of the aggregating server's client certificate, the only
 * client that it trusts: `requestheader-client-ca-file` in the ConfigMap
 * kube-system/extension-apiserver-authentication.
 */
export async function startExtension(proxyCa: string, now: number): Promise<RunningExtension> {
  const authority = CertificateAuthority.create({ commonName: 'hello', now })
  const hosts = [`${service.name}.${service.namespace}.svc`]
  const { cert, key } = new CertificateAuthority(authority).issueServing({ now, hosts })
  const store = new MemoryStore()
  const server = await createExtensionServer({ store, resources: [greetings] })
  const listener = await listen({ handler: server.handler, cert, key, clientCas: [proxyCa] })
  return {
    port: listener.port,
    manifests: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: service,
        // The server does not run in a pod, so the Service resolves to this machine.
        spec: { type: 'ExternalName', externalName: 'localhost' },
      },
      {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: `v1.${group}` },
        spec: {
          group,
          version: 'v1',
          groupPriorityMinimum: 1000,
          versionPriority: 15,
          service: { ...service, port: listener.port },
          caBundle: Buffer.from(authority.cert).toString('base64'),
        },
      },
    ],
    [Symbol.asyncDispose]: async () => {
      await listener[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
