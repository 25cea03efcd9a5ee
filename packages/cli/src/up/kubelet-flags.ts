import { defineFlags } from '@kubewright/base'

const section = 'Kubelets, as in kube-apiserver'

/** The flags of `up` for nodes that join: see docs/guides/real-kubelets.md. */
export const kubeletFlags = defineFlags({
  'kubelet-certificate-authority': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Trust these CAs for the serving certificates of kubelets; without it, the certificates are not verified',
  },
  'kubelet-client-certificate': {
    section,
    value: 'FILE',
    complete: 'files',
    defaultText: 'one that the CA of this server signs',
    help: 'Authenticate to kubelets with this client certificate; needs --kubelet-client-key',
  },
  'kubelet-client-key': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'The private key of --kubelet-client-certificate',
  },
  'kubelet-preferred-address-types': {
    section,
    value: 'TYPES',
    default: 'Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP',
    defaultText: "kube-apiserver's order: Hostname first, ExternalIP last",
    help: 'Connect to the first address of a node that has one of these types, in this order',
  },
  'enable-bootstrap-token-auth': {
    section,
    default: true,
    help: 'Accept the bearer tokens in Secrets of type bootstrap.kubernetes.io/token of the namespace kube-system',
  },
})
