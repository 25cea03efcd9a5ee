import type { CertificateSource, ServingCertificate } from './http-listener.ts'

/** A source whose certificate can be replaced. */
export interface MutableCertificateSource extends CertificateSource {
  replace(certificate: ServingCertificate): void
}

/** Creates a source that starts with a certificate and notifies its listeners of each replacement. */
export function certificateSource(first: ServingCertificate): MutableCertificateSource {
  let current = first
  const listeners = new Set<() => void>()
  return {
    current: () => current,
    onChange: (listener) => {
      // Wrapped, so that the same function can be registered twice.
      const wrapped = (): void => listener()
      listeners.add(wrapped)
      return { [Symbol.dispose]: () => void listeners.delete(wrapped) }
    },
    replace: (certificate) => {
      if (certificate.cert === current.cert && certificate.key === current.key) return
      current = certificate
      for (const listener of listeners) listener()
    },
  }
}
