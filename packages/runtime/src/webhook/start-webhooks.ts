import { crdOf } from '@kubewright/api'
import {
  AsyncDisposer,
  type Clock,
  type Logger,
  type MetricSink,
  nullLogger,
  onAbort,
  systemClock,
} from '@kubewright/base'
import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import type { Client, Reader } from '@kubewright/client'
import type { Runnable } from '../define/runnable.ts'
import { certificateFiles } from '../serving/certificates/certificate-files.ts'
import { certificateHealth } from '../serving/certificates/certificate-health.ts'
import { type ManageCertificatesOptions, manageCertificates } from '../serving/certificates/manage-certificates.ts'
import type { HealthCheck, HealthChecks } from '../serving/health/health-check.ts'
import { certificateSource } from '../serving/http/certificate-source.ts'
import type { CertificateSource } from '../serving/http/http-listener.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { createWebhookHandler } from './create-webhook-handler.ts'
import { registerLocally } from './register-locally.ts'
import { type ServedWebhooks, type ServeWebhooksOptions, serveWebhooks } from './serve-webhooks.ts'
import { type WebhookOwner, webhookConfigurations } from './webhook-configurations.ts'
import type { WebhookHandler } from './webhook-request.ts'

/** Certificates in a folder, which another program renews. */
export interface CertificateFolder {
  readonly dir: string
  readonly certName?: string | undefined
  readonly keyName?: string | undefined
}

/** Certificates that the operator creates and renews itself, for a server that is reached through a Service. */
export interface SelfManagedCertificates
  extends Pick<ManageCertificatesOptions, 'servingValidity' | 'authorityValidity' | 'interval' | 'settleTime'> {
  /** The namespace of the operator: that of the Service and of the Secret. */
  readonly namespace: string
  /** @default `<operator>-webhook-service` */
  readonly serviceName?: string | undefined
  /** @default `<operator>-webhook-cert` */
  readonly secretName?: string | undefined
  /** The prefix of the webhook configurations' names. @default the name of the operator and a dash */
  readonly namePrefix?: string | undefined
}

/** Options of {@link startWebhooks}. Exactly one of `folder`, `selfManaged`, `url` and `certificate` must be set. */
export interface StartWebhooksOptions extends Pick<ServeWebhooksOptions, 'port' | 'host' | 'clientCa' | 'http2'> {
  /** An uncached client. */
  readonly client: Reader & Client
  readonly folder?: CertificateFolder | undefined
  readonly selfManaged?: SelfManagedCertificates | undefined
  /**
   * The URL at which the API server can reach this process, such as `https://192.168.1.5:9443`, for developing against
   * a cluster. The webhooks are registered with this URL, and unregistered at the end. Port 0 is replaced by the actual
   * port.
   */
  readonly url?: string | undefined
  readonly certificate?: CertificateSource | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default no log */
  readonly log?: Logger | undefined
  readonly metrics?: MetricSink | undefined
  readonly tracer?: Tracer | undefined
  /** Opens the server. @default {@link serveWebhooks} */
  readonly listen?: ((options: ServeWebhooksOptions) => Promise<ServedWebhooks>) | undefined
}

/** The running webhooks of an operator. Disposing it waits for open requests. */
export interface RunningWebhooks extends AsyncDisposable {
  readonly handler: WebhookHandler
  readonly port: number
  /** The readiness checks. */
  readonly health: readonly HealthCheck[]
  /** Aborts open requests. */
  close(): void
}

/** Whether an operator needs a webhook server. */
export function needsWebhooks({ webhooks, conversions = [] }: WebhookOwner): boolean {
  return webhooks.length > 0 || conversions.length > 0
}

/** Serves the webhooks and conversions of an operator. Resolves when the server accepts connections. */
export async function startWebhooks(operator: WebhookOwner, options: StartWebhooksOptions): Promise<RunningWebhooks> {
  const { client, clock = systemClock, log = nullLogger, metrics, tracer, listen = serveWebhooks } = options
  const handler = createWebhookHandler({
    webhooks: operator.webhooks,
    conversions: operator.conversions ?? [],
    client,
    clock,
    log,
    ...(metrics ? { metrics } : {}),
    ...(tracer ? { tracer } : {}),
  })
  const disposer = new AsyncDisposer()
  try {
    const { source, health, bundle } = await certificateFor(operator, options, disposer)
    const { port, host, clientCa, http2 } = options
    const served = await listen({ handler, certificate: source, port, host, clientCa, http2, log })
    disposer.use(served)
    // Last, and undone first: the API server sends requests as soon as the webhooks are registered.
    if (options.url !== undefined) {
      const url = options.url.replace(/:0(?=\/|$)/, `:${served.port}`)
      disposer.use(await registerLocally(operator, { client, url, caBundle: bundle, log }))
    }
    return {
      handler,
      port: served.port,
      health: [served.health, ...health],
      close: () => served.close(),
      [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
    }
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * The runnable that serves an operator's webhooks. Runs on every replica, before the caches are filled, since their
 * lists may need conversions. With `health`, it adds readiness checks. Uses the manager's log unless the options have
 * one.
 */
export function webhookRunnable(
  operator: WebhookOwner,
  options: StartWebhooksOptions & { readonly health?: HealthChecks | undefined },
): Runnable {
  return {
    name: 'webhooks',
    phase: 'webhook',
    announcesReady: true,
    async run({ drain, abort, ready, log }) {
      const running = await startWebhooks(operator, { ...options, log: options.log ?? log })
      const shown = running.health.map((check) => options.health?.addReadiness(check))
      const stopClosing = onAbort(abort, () => running.close())
      try {
        ready()
        await new Promise<void>((resolve) => onAbort(drain, resolve))
      } finally {
        for (const check of shown) check?.[Symbol.dispose]()
        await running[Symbol.asyncDispose]()
        stopClosing()
      }
    },
  }
}

interface ChosenCertificate {
  readonly source: CertificateSource
  readonly health: readonly HealthCheck[]
  readonly bundle: string
}

async function certificateFor(
  operator: WebhookOwner,
  options: StartWebhooksOptions,
  disposer: AsyncDisposer,
): Promise<ChosenCertificate> {
  const { client, folder, selfManaged, url, certificate, clock = systemClock, log, metrics } = options
  const given = [folder, selfManaged, url, certificate].filter((one) => one !== undefined)
  if (given.length !== 1) {
    const found = given.length === 0 ? 'none of them is set' : 'several of them are set'
    throw new TypeError(
      `Cannot start the webhooks of "${operator.name}": 'folder', 'selfManaged', 'url' and 'certificate' exclude each other, and ${found}: set exactly one`,
    )
  }
  if (certificate) return { source: certificate, health: [], bundle: '' }
  if (url !== undefined) {
    const { authority, serving } = passingCertificate(operator.name, new URL(url).hostname, clock.now())
    return { source: certificateSource(serving), health: [], bundle: authority.cert }
  }
  if (folder) {
    const source = await certificateFiles({ ...folder, clock, log, metrics })
    disposer.use(source)
    const fix = `have the files in ${folder.dir} renewed by the program that manages them`
    return { source, health: [certificateHealth(source, clock, fix)], bundle: '' }
  }
  // The only option left.
  const chosen = selfManaged as SelfManagedCertificates
  const managed = await manageCertificates({ ...certificatesOf(operator, chosen), client, clock, log })
  disposer.use(managed)
  return { source: managed, health: [managed.health], bundle: managed.bundle }
}

/** The options of `manageCertificates` for an operator: Secret, hosts and trust targets. */
export function certificatesOf(
  operator: WebhookOwner,
  chosen: SelfManagedCertificates,
): Omit<ManageCertificatesOptions, 'client' | 'clock' | 'log'> {
  const { namespace, namePrefix, ...rest } = chosen
  const {
    serviceName = `${operator.name}-webhook-service`,
    secretName = `${operator.name}-webhook-cert`,
    ...times
  } = rest
  const service = { namespace, name: serviceName }
  const { mutating, validating } = webhookConfigurations(operator, {
    service,
    ...(namePrefix === undefined ? {} : { namePrefix }),
  })
  return {
    ...times,
    secret: { namespace, name: secretName },
    hosts: [
      `${serviceName}.${namespace}.svc`,
      `${serviceName}.${namespace}.svc.cluster.local`,
      `${serviceName}.${namespace}`,
    ],
    targets: {
      mutating: mutating ? [mutating.metadata.name as string] : [],
      validating: validating ? [validating.metadata.name as string] : [],
      crds: (operator.conversions ?? []).map(({ hub }) => crdOf(hub).metadata.name),
    },
  }
}

/** A certificate for one run of the process. */
function passingCertificate(
  name: string,
  host: string,
  now: number,
): { readonly authority: KeyedCertificate; readonly serving: KeyedCertificate } {
  const authority = CertificateAuthority.create({ commonName: `${name}-local`, now })
  const serving = new CertificateAuthority(authority).issueServing({ now, hosts: [host.replace(/^\[|\]$/g, '')] })
  return { authority, serving }
}
