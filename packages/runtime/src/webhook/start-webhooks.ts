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

/** Certificates in a folder, which somebody else looks after. */
export interface CertificateFolder {
  readonly dir: string
  readonly certName?: string | undefined
  readonly keyName?: string | undefined
}

/** Certificates that the operator looks after itself, for a server that is reached through a service. */
export interface SelfManagedCertificates
  extends Pick<ManageCertificatesOptions, 'servingValidity' | 'authorityValidity' | 'interval' | 'settleTime'> {
  /** Where the operator runs: the namespace of the service and of the Secret. */
  readonly namespace: string
  /** @default `<operator>-webhook-service` */
  readonly serviceName?: string | undefined
  /** @default `<operator>-webhook-cert` */
  readonly secretName?: string | undefined
  /** Before the names of the webhook configurations. @default the name of the operator and a dash */
  readonly namePrefix?: string | undefined
}

/** What {@link startWebhooks} takes. Exactly one of `folder`, `selfManaged`, `url` and `certificate` says how the server is reached and known. */
export interface StartWebhooksOptions extends Pick<ServeWebhooksOptions, 'port' | 'host' | 'clientCa' | 'http2'> {
  /** One that always asks the API server. */
  readonly client: Reader & Client
  readonly folder?: CertificateFolder | undefined
  readonly selfManaged?: SelfManagedCertificates | undefined
  /**
   * The address at which the API server can reach this process, such as `https://192.168.1.5:9443`, while an operator is developed
   * against a cluster: webhooks are registered under this address, and unregistered at the end. Port 0 stands for the one that the
   * server got.
   */
  readonly url?: string | undefined
  readonly certificate?: CertificateSource | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default silent */
  readonly log?: Logger | undefined
  readonly metrics?: MetricSink | undefined
  readonly tracer?: Tracer | undefined
  /** Opens the server. @default {@link serveWebhooks} */
  readonly listen?: ((options: ServeWebhooksOptions) => Promise<ServedWebhooks>) | undefined
}

/** The webhooks of an operator in operation. Disposing it lets open requests end. */
export interface RunningWebhooks extends AsyncDisposable {
  readonly handler: WebhookHandler
  readonly port: number
  /** For readiness. */
  readonly health: readonly HealthCheck[]
  /** Ends open requests too. */
  close(): void
}

/** Whether an operator has anything that a webhook server is needed for. */
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
    // Last, and undone first: the API server asks as soon as it is told whom.
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
 * The part of a manager that serves an operator's webhooks: every replica does, before the caches fill, whose lists may need them.
 * With `health`, readiness shows whether it does. Its log is the manager's unless the options have one.
 */
export function webhookRunnable(
  operator: WebhookOwner,
  options: StartWebhooksOptions & { readonly health?: HealthChecks },
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
    const found = given.length === 0 ? 'none of them is given' : 'several of them are given'
    throw new TypeError(
      `Cannot start the webhooks of "${operator.name}": 'folder', 'selfManaged', 'url' and 'certificate' exclude each other, and ${found}`,
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
    const cure = `see that whoever looks after the files in ${folder.dir} renews them`
    return { source, health: [certificateHealth(source, clock, cure)], bundle: '' }
  }
  // The one that is left.
  const chosen = selfManaged as SelfManagedCertificates
  const managed = await manageCertificates({ ...certificatesOf(operator, chosen), client, clock, log })
  disposer.use(managed)
  return { source: managed, health: [managed.health], bundle: managed.bundle }
}

/** Where self-managed certificates are kept, what they are good for, and who has to trust them. */
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

/** A certificate for one run of a process. */
function passingCertificate(
  name: string,
  host: string,
  now: number,
): { readonly authority: KeyedCertificate; readonly serving: KeyedCertificate } {
  const authority = CertificateAuthority.create({ commonName: `${name}-local`, now })
  const serving = new CertificateAuthority(authority).issueServing({ now, hosts: [host.replace(/^\[|\]$/g, '')] })
  return { authority, serving }
}
