import { join } from 'node:path'
import {
  type Clock,
  type Duration,
  every,
  KubewrightError,
  type Logger,
  type MetricLabels,
  type MetricSink,
  nullLogger,
  systemClock,
  toMillis,
} from '@kubewright/base'
import { certificateSource } from '../http/certificate-source.ts'
import type { CertificateSource, ServingCertificate } from '../http/http-listener.ts'
import { checkPair } from './check-pair.ts'
import { readCertificate } from './read-certificate.ts'

/** Options of {@link certificateFiles}. */
export interface CertificateFilesOptions {
  /** The folder of the files, such as the mount point of a Secret. */
  readonly dir: string
  /** @default 'tls.crt' */
  readonly certName?: string | undefined
  /** @default 'tls.key' */
  readonly keyName?: string | undefined
  /** How often the files are read. @default '10s' */
  readonly interval?: Duration | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default no log */
  readonly log?: Logger | undefined
  readonly metrics?: MetricSink | undefined
  /** @default Node's readFile */
  readonly readFile?: ((path: string) => Promise<string>) | undefined
}

/** A certificate in files, which are read periodically until it is disposed. */
export interface CertificateFiles extends CertificateSource, AsyncDisposable {}

const noLabels: MetricLabels = Object.freeze({})
const reads = 'certwatcher_read_certificate_total'
const readErrors = 'certwatcher_read_certificate_errors_total'

/**
 * Reads a certificate and its key from a folder, and reloads them when they change. An invalid pair is logged and
 * ignored; the previous one stays in use. Rejects when there is no valid pair at the start.
 */
export async function certificateFiles(options: CertificateFilesOptions): Promise<CertificateFiles> {
  const { dir, certName = 'tls.crt', keyName = 'tls.key', clock = systemClock, log = nullLogger, metrics } = options
  const readFile = options.readFile ?? readTextFile
  const files = { cert: join(dir, certName), key: join(dir, keyName) }
  metrics?.add(reads, noLabels, 0)
  metrics?.add(readErrors, noLabels, 0)

  const read = async (known?: ServingCertificate): Promise<ServingCertificate> => {
    metrics?.add(reads, noLabels, 1)
    try {
      const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)])
      if (known?.cert === cert && known.key === key) return known
      checkPair({ cert, key })
      return { cert, key }
    } catch (error) {
      metrics?.add(readErrors, noLabels, 1)
      throw error
    }
  }

  const source = certificateSource(await read().catch((error: unknown) => Promise.reject(missing(files, error))))
  let reading: Promise<void> | undefined
  const timer = every(
    clock,
    toMillis(options.interval ?? '10s'),
    () => {
      // At most one read is in flight, even on a file system that hangs.
      reading ??= read(source.current())
        .then((certificate) => {
          if (certificate === source.current()) return
          source.replace(certificate)
          const notAfter = new Date(readCertificate(certificate.cert).notAfter).toISOString()
          log.info('Updated current TLS certificate', { notAfter })
        })
        .catch((error: unknown) => log.error(error, 'failed re-reading certificate', files))
        .finally(() => {
          reading = undefined
        })
    },
    'certificate files',
  )
  return {
    current: () => source.current(),
    onChange: (listener) => source.onChange(listener),
    [Symbol.asyncDispose]: async () => {
      timer.cancel()
      await reading
    },
  }
}

async function readTextFile(path: string): Promise<string> {
  const { readFile } = await import('node:fs/promises')
  return readFile(path, 'utf8')
}

function missing(files: { readonly cert: string; readonly key: string }, cause: unknown): KubewrightError {
  const { message } = cause as Error
  const text = `Cannot serve with the certificate in ${files.cert} and its key in ${files.key}: ${message}`
  const fix = 'mount the Secret with the certificate there, or omit the folder to have the operator manage certificates'
  return new KubewrightError('KW_CERTIFICATE', `${text}; ${fix}`, { cause })
}
