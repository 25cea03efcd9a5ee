import type { KeyController } from '@kubewright/runtime'
import { bootstrapSigner, tokenCleaner } from './bootstrap-tokens/bootstrap-token-controllers.ts'
import type { ClusterTrust } from './certificates/cluster-trust.ts'
import { signingRequestSigner } from './certificates/signing-request-controllers.ts'
import { rootCaPublisher } from './service-account/root-ca-publisher.ts'
import { tokenController } from './service-account/token-controller.ts'

/** A built-in controller that needs the signing keys of the cluster. */
export interface TrustController {
  /** The name in kube-controller-manager's `--controllers`. */
  readonly name: string
  /** Creates the controllers for these keys; none when they would have nothing to do. */
  readonly create: (trust: ClusterTrust) => readonly KeyController[]
}

/** The built-in controllers that need signing keys, with the names that kube-controller-manager uses. */
export const trustControllers: readonly TrustController[] = /* @__PURE__ */ Object.freeze([
  {
    name: 'root-ca-certificate-publisher-controller',
    create: ({ rootCa }: ClusterTrust) => (rootCa === undefined ? [] : [rootCaPublisher(rootCa)]),
  },
  // Joining nodes need a server with an identity; others would watch tokens for nothing.
  {
    name: 'bootstrap-signer-controller',
    create: ({ rootCa }: ClusterTrust) => (rootCa === undefined ? [] : [bootstrapSigner]),
  },
  {
    name: 'token-cleaner-controller',
    create: ({ rootCa }: ClusterTrust) => (rootCa === undefined ? [] : [tokenCleaner]),
  },
  { name: 'serviceaccount-token-controller', create: (trust: ClusterTrust) => [tokenController(trust)] },
  {
    name: 'certificatesigningrequest-signing-controller',
    create: (trust: ClusterTrust) => [signingRequestSigner(trust)],
  },
])
