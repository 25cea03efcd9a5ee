import type { CertificateSource, ServingCertificate } from './http-listener.ts'

/** A source whose certificate is replaced by whoever looks after it. */
export interface MutableCertificateSource extends CertificateSource {
  replace(certificate: ServingCertificate): void
}

/** A source that begins with a certificate and tells its listeners of each new one. */
export function certificateSource(first: ServingCertificate): MutableCertificateSource {
  let current = first
  const listeners = new Set<() => void>()
  return {
    current: () => current,
    onChange: (listener) => {
      // Wrapped, so that one function may be added twice.
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
