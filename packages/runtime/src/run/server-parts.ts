import type { Logger, MetricRegistry } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Runnable } from '../define/runnable.ts'
import type { Manager } from '../manager/manager.ts'
import { metricsServerHandler } from '../manager/metrics-server-handler.ts'
import type { AccessWatch } from '../rbac/watch-access.ts'
import { certificateFiles } from '../serving/certificates/certificate-files.ts'
import type { ServedHealthChecks } from '../serving/health/health-checks.ts'
import { requireAccess } from '../serving/http/require-access.ts'
import { selfSignedCertificate } from '../serving/http/self-signed-certificate.ts'
import { debugHandler } from './debug-handler.ts'
import type { RunSettings } from './run-flags.ts'
import type { RunHost } from './run-host.ts'
import { type ServerPartOptions, serverPart } from './server-part.ts'

/** Options of {@link serverParts}. */
export interface ServerPartsOptions {
  readonly host: RunHost
  readonly settings: RunSettings
  readonly log: Logger
  readonly manager: Manager
  readonly metrics: MetricRegistry
  readonly api: ApiClient
  readonly health: ServedHealthChecks
  readonly access: AccessWatch
}

/** The servers that the settings enable: probes, metrics and the debug page. */
export function serverParts(options: ServerPartsOptions): Runnable[] {
  const { host, settings, manager, health, access } = options
  const { listener, clock } = host
  const parts: Runnable[] = []
  if (settings.probes) {
    parts.push(serverPart({ name: 'probes', ...settings.probes, listener, handler: health.handler }))
  }
  if (settings.metrics.address) parts.push(serverPart(metricsServer(options, settings.metrics.address)))
  if (settings.debug) {
    const handler = debugHandler({ manager, clock, profiler: host.profiler, missingAccess: () => access.missing })
    parts.push(serverPart({ name: 'debug', ...settings.debug, listener, handler }))
  }
  return parts
}

function metricsServer(
  { host, settings, log, manager, metrics, api }: ServerPartsOptions,
  address: { readonly host: string; readonly port: number },
): ServerPartOptions {
  const { listener, clock, random } = host
  const { secure, certificate } = settings.metrics
  const handler = metricsServerHandler(manager, metrics)
  const common = { name: 'metrics', ...address, listener }
  if (!secure) return { ...common, handler }
  return {
    ...common,
    http2: settings.http2,
    handler: requireAccess(handler, { api, clock, random, log: log.withName('metrics') }),
    openCertificate: async () =>
      certificate ? certificateFiles({ ...certificate, clock, log, metrics }) : selfSignedCertificate(clock),
  }
}
