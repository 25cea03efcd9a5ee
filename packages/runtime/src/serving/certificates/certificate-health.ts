import type { Clock } from '@kubewright/base'
import type { HealthCheck } from '../health/health-check.ts'
import type { CertificateSource } from '../http/http-listener.ts'
import { readCertificate } from './read-certificate.ts'

/** Fails when the certificate that a webhook server shows is not good any more; `cure` says what to do then. */
export function certificateHealth(source: CertificateSource, clock: Clock, cure: string): HealthCheck {
  return {
    name: 'webhook-certificate',
    check: () => {
      if (readCertificate(source.current().cert).notAfter <= clock.now()) {
        throw new Error(`the webhook certificate has expired: ${cure}`)
      }
    },
  }
}
