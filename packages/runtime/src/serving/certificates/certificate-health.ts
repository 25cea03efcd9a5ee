import { CaughtError, type Clock } from '@kubewright/base'
import type { HealthCheck } from '../health/health-check.ts'
import type { CertificateSource } from '../http/http-listener.ts'
import { readCertificate } from './read-certificate.ts'

/** A check that fails when a webhook server's certificate has expired. `fix` completes the message. */
export function certificateHealth(source: CertificateSource, clock: Clock, fix: string): HealthCheck {
  return {
    name: 'webhook-certificate',
    check: () => {
      if (readCertificate(source.current().cert).notAfter <= clock.now()) {
        throw new CaughtError(`the webhook certificate has expired: ${fix}`)
      }
    },
  }
}
