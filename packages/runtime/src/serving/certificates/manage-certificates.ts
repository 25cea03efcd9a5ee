import { isAlreadyExists, isConflict } from '@kubewright/api'
import {
  type Clock,
  type Duration,
  KubewrightError,
  type Logger,
  nullLogger,
  systemClock,
  type Timer,
  toMillis,
} from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { Secret } from '@kubewright/k8s/core/v1'
import type { HealthCheck } from '../health/health-check.ts'
import { certificateSource, type MutableCertificateSource } from '../http/certificate-source.ts'
import type { CertificateSource } from '../http/http-listener.ts'
import { certificateHealth } from './certificate-health.ts'
import { fromSecret, toSecret } from './certificate-secret.ts'
import { type CertificateState, planRotation } from './plan-rotation.ts'
import { readCertificate } from './read-certificate.ts'
import { injectBundle, readTargets, type TrustTargets, trustsAll } from './trust-targets.ts'
import { watchTargets } from './watch-targets.ts'

/** Options of {@link manageCertificates}. */
export interface ManageCertificatesOptions {
  /** An uncached client. With `watch`, a removed CA bundle is restored at once instead of after `interval`. */
  readonly client: Pick<Client, 'find' | 'create' | 'update' | 'patch'> & Partial<Pick<Client, 'watch'>>
  /** The Secret that stores the certificates. Must be the same for all replicas. */
  readonly secret: { readonly namespace: string; readonly name: string }
  /**
   * The host names under which the API server calls the webhook server, such as
   * `homes-webhook-service.homes-system.svc`.
   */
  readonly hosts: readonly string[]
  /** The objects that receive the CA bundle. */
  readonly targets: TrustTargets
  /** The validity of serving certificates. @default 90 days */
  readonly servingValidity?: Duration | undefined
  /** The validity of certificate authorities. @default 365 days */
  readonly authorityValidity?: Duration | undefined
  /** How often the certificates are checked. @default '1m' */
  readonly interval?: Duration | undefined
  /**
   * How long all targets must have trusted a new authority before it signs: the time until every API server has
   * noticed. @default '10m'
   */
  readonly settleTime?: Duration | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default no log */
  readonly log?: Logger | undefined
}

/** Certificates that are renewed until disposed. */
export interface ManagedCertificates extends CertificateSource, AsyncDisposable {
  /** The trusted certificate authorities, PEM. */
  readonly bundle: string
  /** Fails when the serving certificate has expired. */
  readonly health: HealthCheck
  /**
   * Checks and renews the certificates now. Rejects when the API server is unavailable; the current certificate then
   * stays in use.
   */
  refresh(signal?: AbortSignal): Promise<void>
}

const day = 24 * 60 * 60 * 1000
const maxAttempts = 10

/**
 * Manages the certificates of a webhook server: creates a certificate authority and a serving certificate, stores them
 * in a Secret, writes the CA bundle into the webhook configurations, and renews everything in time. The server never
 * uses a certificate that the API server does not trust yet. Several replicas may run at once: the first write of the
 * Secret wins, and the other replicas adopt it.
 */
export async function manageCertificates(options: ManageCertificatesOptions): Promise<ManagedCertificates> {
  const manager = new CertificateManager(options)
  await manager.refresh()
  manager.start()
  return manager
}

class CertificateManager implements ManagedCertificates {
  readonly health: HealthCheck
  readonly #options: ManageCertificatesOptions
  readonly #clock: Clock
  readonly #log: Logger
  readonly #stop = new AbortController()
  #source: MutableCertificateSource | undefined
  #state: CertificateState | undefined
  #seen: { readonly resourceVersion: string; readonly state: CertificateState | undefined } | undefined
  /** The next authority, and the monotonic time since when all targets have trusted it. */
  #settling: { readonly next: string; readonly since: number } | undefined
  #timer: Timer | undefined
  #looking: Promise<void> | undefined
  /** Whether a change arrived during the running check. */
  #again = false
  #watching: Promise<void> | undefined

  constructor(options: ManageCertificatesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? nullLogger
    const { namespace, name } = options.secret
    const fix = `see the log for why Secret ${namespace}/${name} could not be renewed`
    this.health = certificateHealth(this, this.#clock, fix)
  }

  get bundle(): string {
    return this.#state?.trusted.join('') ?? ''
  }

  current(): { readonly cert: string; readonly key: string } {
    if (!this.#source) throw new KubewrightError('KW_CERTIFICATE', 'the certificate is not ready: wait for refresh()')
    return this.#source.current()
  }

  onChange(listener: () => void): Disposable {
    return this.#source?.onChange(listener) ?? { [Symbol.dispose]() {} }
  }

  start(): void {
    const { client, targets, interval = '1m' } = this.#options
    const { signal } = this.#stop
    const look = async (): Promise<void> => {
      this.#timer?.cancel()
      do {
        this.#again = false
        try {
          await this.refresh(signal)
        } catch (error) {
          if (!signal.aborted) this.#log.error(error, 'Failed to refresh the webhook certificates')
        }
      } while (this.#again && !signal.aborted)
      this.#looking = undefined
      if (!signal.aborted) this.#timer = this.#clock.setTimer(toMillis(interval), trigger, 'webhook certificates')
    }
    const trigger = (): void => {
      // The running check may have read the objects before the change: repeat it.
      if (this.#looking) this.#again = true
      else this.#looking = look()
    }
    this.#timer = this.#clock.setTimer(toMillis(interval), trigger, 'webhook certificates')
    if (!client.watch) return
    const watcher = { watch: client.watch.bind(client) } as Pick<Client, 'watch'>
    this.#watching = watchTargets(watcher, targets, { clock: this.#clock, log: this.#log, signal, onChange: trigger })
  }

  async refresh(signal?: AbortSignal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(signal)
      } catch (error) {
        // Another replica wrote first: retry with what it wrote.
        if (!(isConflict(error) || isAlreadyExists(error)) || attempt === maxAttempts) throw error
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the management of webhook certificates was stopped'))
    this.#timer?.cancel()
    await Promise.all([this.#looking, this.#watching])
  }

  async #attempt(signal: AbortSignal | undefined): Promise<void> {
    const { client, secret: key, targets } = this.#options
    // The order matters: the Secret is read after the targets, so its bundle is at least as new as theirs. Writing it
    // into an unchanged target therefore never removes trust.
    const holders = await readTargets(client, targets, signal)
    const secret = await client.find(Secret, key, { signal })
    const known = secret && this.#read(secret)
    if (secret && !known) this.#log.warn('Replaced the damaged certificates in the Secret', { secret: key })
    const settled = this.#hasSettled(known, known !== undefined && trustsAll(holders, known.trusted.join('')))
    const state = planRotation(known, this.#facts(settled))
    if (state !== known) {
      const draft = toSecret(key, state)
      if (!secret) await client.create(draft, { signal })
      else {
        // The resourceVersion makes the write conditional. Metadata that others wrote is preserved.
        const labels = { ...secret.metadata.labels, ...draft.metadata.labels }
        await client.update({ ...draft, metadata: { ...secret.metadata, labels } }, { signal })
      }
      this.#logChanges(known, state)
    }
    this.#adopt(state)
    const bundle = state.trusted.join('')
    for (const holder of holders) await injectBundle(client, holder, bundle, signal)
  }

  /** Decodes the Secret. Cached by resourceVersion: parsing keys is slow, and the Secret rarely changes. */
  #read(secret: Secret): CertificateState | undefined {
    const { resourceVersion } = secret.metadata
    if (this.#seen?.resourceVersion !== resourceVersion) this.#seen = { resourceVersion, state: fromSecret(secret) }
    return this.#seen.state
  }

  #facts(settled: boolean): Parameters<typeof planRotation>[1] {
    const { hosts, secret, servingValidity, authorityValidity } = this.#options
    return {
      now: this.#clock.now(),
      hosts,
      settled,
      commonName: secret.name,
      servingMillis: servingValidity === undefined ? 90 * day : toMillis(servingValidity),
      caMillis: authorityValidity === undefined ? 365 * day : toMillis(authorityValidity),
    }
  }

  /** Whether all targets have trusted the next authority for `settleTime`. Each replica observes this by itself. */
  #hasSettled(state: CertificateState | undefined, trusted: boolean): boolean {
    const next = state?.next?.cert
    if (next === undefined || !trusted) {
      this.#settling = undefined
      return false
    }
    const now = this.#clock.monotonic()
    if (this.#settling?.next !== next) this.#settling = { next, since: now }
    return now - this.#settling.since >= toMillis(this.#options.settleTime ?? '10m')
  }

  #adopt(state: CertificateState): void {
    this.#state = state
    if (this.#source) this.#source.replace(state.serving)
    else this.#source = certificateSource(state.serving)
  }

  #logChanges(before: CertificateState | undefined, after: CertificateState): void {
    const { secret } = this.#options
    if (before?.signer.cert !== after.signer.cert)
      this.#log.info('Switched to a new certificate authority for webhooks', { secret })
    else if (after.next && !before.next)
      this.#log.info('Created the next certificate authority for webhooks', { secret })
    if (before?.serving.cert !== after.serving.cert) {
      const notAfter = new Date(readCertificate(after.serving.cert).notAfter).toISOString()
      this.#log.info('Issued a webhook certificate', { secret, hosts: this.#options.hosts, notAfter })
    }
  }
}
