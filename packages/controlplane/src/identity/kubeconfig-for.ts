import type { KeyedCertificate } from '@kubewright/server'

/** Creates a kubeconfig for one server and one client certificate. */
export function kubeconfigFor(parts: {
  readonly server: string
  readonly ca: string
  readonly client: KeyedCertificate
  readonly user: string
}): string {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
  return `apiVersion: v1
kind: Config
current-context: kubewright
clusters:
- name: kubewright
  cluster:
    server: ${parts.server}
    certificate-authority-data: ${base64(parts.ca)}
users:
- name: ${parts.user}
  user:
    client-certificate-data: ${base64(parts.client.cert)}
    client-key-data: ${base64(parts.client.key)}
contexts:
- name: kubewright
  context:
    cluster: kubewright
    namespace: default
    user: ${parts.user}
`
}
