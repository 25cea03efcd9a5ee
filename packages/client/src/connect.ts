import { type ApiClient, type ClientOptions, createClient } from './api-client.ts'
import type { ClientConfig } from './config/client-config.ts'
import { type LoadConfigOptions, loadClientConfig } from './config/load-client-config.ts'
import { httpTransport } from './transport/http-transport.ts'
import type { Transport } from './transport/transport.ts'

/** What {@link connect} takes. */
export interface ConnectOptions
  extends LoadConfigOptions,
    Omit<ClientOptions, 'transport' | 'credentials' | 'namespace' | 'clock'> {
  /** The configuration, when it is there already. @default what {@link loadClientConfig} finds */
  readonly config?: ClientConfig | undefined
}

/** A client for the cluster that the options, the environment or the pod say. Nothing is sent before its first call. */
export async function connect(options: ConnectOptions = {}): Promise<ApiClient> {
  const config = options.config ?? (await loadClientConfig(options))
  const { namespace = config.namespace, impersonate = config.impersonate } = options
  const transport = transportFor(config, options)
  return createClient({ ...options, transport, credentials: config.credentials, impersonate, namespace })
}

/** The transport of a configuration. */
export function transportFor(config: ClientConfig, { clock }: Pick<ConnectOptions, 'clock'> = {}): Transport {
  const { server, tls, proxy, compression } = config
  return httpTransport({ server, tls, proxy, compression, clock })
}
