import { isAlreadyExists, isConflict } from '@kubewright/api'
import { type Clock, type Duration, type Logger, nullLogger, systemClock, type Timer, toMillis } from '@kubewright/base'
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

/** What {@link manageCertificates} takes. */
export interface ManageCertificatesOptions {
  /** One that always asks the API server. With `watch`, a bundle that somebody takes away is back at once. */
  readonly client: Pick<Client, 'find' | 'create' | 'update' | 'patch'> & Partial<Pick<Client, 'watch'>>
  /** Where the certificates are kept. All replicas name the same one. */
  readonly secret: { readonly namespace: string; readonly name: string }
  /** The names that the API server calls the server by, such as `homes-webhook-service.homes-system.svc`. */
  readonly hosts: readonly string[]
  /** Where to say whom the API server should trust. */
  readonly targets: TrustTargets
  /** How long a serving certificate is good for. @default 90 days */
  readonly servingValidity?: Duration
  /** How long an authority is good for. @default 365 days */
  readonly authorityValidity?: Duration
  /** How often everything is looked at. @default '1m' */
  readonly interval?: Duration
  /** How long a new authority must be trusted everywhere before it signs: the time that API servers may take to notice. @default '10m' */
  readonly settleTime?: Duration
  /** @default the system's */
  readonly clock?: Clock | undefined
  /** @default silent */
  readonly log?: Logger | undefined
}

/** Certificates that are looked after until disposed. */
export interface ManagedCertificates extends CertificateSource, AsyncDisposable {
  /** The authorities that are to be trusted, PEM. */
  readonly bundle: string
  /** Fails when the certificate that is shown is not good any more. */
  readonly health: HealthCheck
  /** Looks at everything now. Rejects when the API server cannot be asked; what is shown stays as it is then. */
  refresh(signal?: AbortSignal): Promise<void>
}

const day = 24 * 60 * 60 * 1000
const maxAttempts = 10

/**
 * Looks after the certificates of a webhook server: makes an authority and a serving certificate, keeps them in a Secret, tells the
 * API server whom to trust, and renews everything in time, without a moment in which a certificate is shown that the API server does
 * not trust. Any number of replicas may do so at once: whoever writes the Secret first wins, and the others follow.
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
  /** Since when everybody has been seen to trust the next authority, and which that was. */
  #settling: { readonly next: string; readonly since: number } | undefined
  #timer: Timer | undefined
  #looking: Promise<void> | undefined
  /** Whether something happened during the look that is going on. */
  #again = false
  #watching: Promise<void> | undefined

  constructor(options: ManageCertificatesOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#log = options.log ?? nullLogger
    const { namespace, name } = options.secret
    const cure = `see the log for why Secret ${namespace}/${name} could not be renewed`
    this.health = certificateHealth(this, this.#clock, cure)
  }

  get bundle(): string {
    return this.#state?.trusted.join('') ?? ''
  }

  current(): { readonly cert: string; readonly key: string } {
    if (!this.#source) throw new Error('there is no certificate yet')
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
          if (!signal.aborted) this.#log.error(error, 'Could not look after the webhook certificates')
        }
      } while (this.#again && !signal.aborted)
      this.#looking = undefined
      if (!signal.aborted) this.#timer = this.#clock.setTimer(toMillis(interval), trigger, 'webhook certificates')
    }
    const trigger = (): void => {
      // What happens during a look may have happened behind its back.
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
        // Another replica was faster: what it wrote is what counts.
        if (!(isConflict(error) || isAlreadyExists(error)) || attempt === maxAttempts) throw error
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the webhook certificates are no longer looked after'))
    this.#timer?.cancel()
    await Promise.all([this.#looking, this.#watching])
  }

  async #attempt(signal: AbortSignal | undefined): Promise<void> {
    const { client, secret: key, targets } = this.#options
    // The order matters: a bundle that is read after an object is at least as new as the one in the object, so writing it into
    // an object that did not change since cannot take trust away.
    const holders = await readTargets(client, targets, signal)
    const secret = await client.find(Secret, key, { signal })
    const known = secret && this.#read(secret)
    if (secret && !known) this.#log.warn('The certificates in the Secret are damaged and are replaced', { secret: key })
    const settled = this.#hasSettled(known, known !== undefined && trustsAll(holders, known.trusted.join('')))
    const state = planRotation(known, this.#facts(settled))
    if (state !== known) {
      const draft = toSecret(key, state)
      if (!secret) await client.create(draft, { signal })
      else {
        // At the version that was read, or not at all; what others say of the Secret in its metadata stays.
        const labels = { ...secret.metadata.labels, ...draft.metadata.labels }
        await client.update({ ...draft, metadata: { ...secret.metadata, labels } }, { signal })
      }
      this.#tell(known, state)
    }
    this.#adopt(state)
    const bundle = state.trusted.join('')
    for (const holder of holders) await injectBundle(client, holder, bundle, signal)
  }

  /** The certificates in the Secret; reading keys takes a while, and hardly any look finds new ones. */
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

  /** Whether the next authority has been trusted everywhere for long enough, as seen by this replica alone. */
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

  #tell(before: CertificateState | undefined, after: CertificateState): void {
    const { secret } = this.#options
    if (before?.signer.cert !== after.signer.cert)
      this.#log.info('A new authority signs webhook certificates', { secret })
    else if (after.next && !before.next) this.#log.info('Made the next authority for webhook certificates', { secret })
    if (before?.serving.cert !== after.serving.cert) {
      const notAfter = new Date(readCertificate(after.serving.cert).notAfter).toISOString()
      this.#log.info('Issued a webhook certificate', { secret, hosts: this.#options.hosts, notAfter })
    }
  }
}
