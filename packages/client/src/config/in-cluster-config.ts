import { errorText } from '@kubewright/base'
import type { ClientConfig } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import type { ConfigMachine } from './resolve-context.ts'
import { RotatingFile } from './rotating-file.ts'
import { tlsSource } from './tls-source.ts'
import { tokenFilePeriod, tokenFromFile } from './token-file.ts'

const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
const authorityPeriod = 5 * 60_000

/** Whether this process runs in a pod with a service account. */
export function isInCluster({ host }: ConfigMachine): boolean {
  return Boolean(host.env['KUBERNETES_SERVICE_HOST'] && host.env['KUBERNETES_SERVICE_PORT'])
}

/**
 * The configuration of a pod from its environment and service account. The token and the CA are read again when they
 * are rotated.
 */
export async function inClusterConfig(machine: ConfigMachine): Promise<ClientConfig> {
  const { host, clock } = machine
  const { KUBERNETES_SERVICE_HOST: name, KUBERNETES_SERVICE_PORT: port } = host.env
  if (!name || !port) {
    throw new ConfigError(
      'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined',
    )
  }
  const failure = (path: string, error: unknown): Error =>
    new ConfigError(
      `${path}: cannot read the file: ${errorText(error)}: check that the pod mounts its service account`,
      error,
    )
  const token = new RotatingFile(`${folder}/token`, { host, clock, period: tokenFilePeriod, failure })
  const ca = new RotatingFile(`${folder}/ca.crt`, { host, clock, period: authorityPeriod, failure })
  const namespace = await host.readFile(`${folder}/namespace`).catch(() => 'default')
  await token.read()
  return {
    source: 'in-cluster',
    server: `https://${name.includes(':') ? `[${name}]` : name}:${port}`,
    namespace: namespace.trim() || 'default',
    tls: tlsSource({ ca: () => ca.read() }),
    credentials: tokenFromFile(token),
  }
}
