import type { ApiClient, ClientOptions } from './api-client.ts'
import type { ClientConfig } from './config/client-config.ts'
import { type LoadConfigOptions, loadClientConfig } from './config/load-client-config.ts'
import { createClient } from './create-client.ts'
import { httpTransport } from './transport/http-transport.ts'
import type { Transport } from './transport/transport.ts'

/** Options of {@link connect}. */
export interface ConnectOptions
  extends LoadConfigOptions,
    Omit<ClientOptions, 'transport' | 'credentials' | 'namespace' | 'clock'> {
  /** A configuration that was loaded before. @default the result of {@link loadClientConfig} */
  readonly config?: ClientConfig | undefined
}

/**
 * A client for the cluster that the options, the environment or the pod determine. Sends no request before the first
 * call.
 */
export async function connect(options: ConnectOptions = {}): Promise<ApiClient> {
  const config = options.config ?? (await loadClientConfig(options))
  const { namespace = config.namespace, impersonate = config.impersonate } = options
  const transport = transportFor(config, options)
  return createClient({ ...options, transport, credentials: config.credentials, impersonate, namespace })
}

/** Creates the transport of a configuration. */
export function transportFor(config: ClientConfig, { clock }: Pick<ConnectOptions, 'clock'> = {}): Transport {
  const { server, tls, proxy, compression } = config
  return httpTransport({ server, tls, proxy, compression, clock })
}
