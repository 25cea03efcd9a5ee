import type { KubeObject } from '@kubewright/api'
import { defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface ClusterTrustBundle extends KubeObject {
  readonly spec?: { readonly signerName?: string | undefined } | undefined
}

/** ClusterTrustBundles (pkg/registry/certificates/clustertrustbundle). */
export const clusterTrustBundles: BuiltinDefinition = defineBuiltin({
  group: 'certificates.k8s.io',
  resource: 'clustertrustbundles',
  table: defineTable<ClusterTrustBundle>([
    nameColumn,
    textColumn('SignerName', 'Signer of the certificates.', ({ spec }) => spec?.signerName || '<none>'),
  ]),
  selectableFields: {
    'spec.signerName': (object) => ((object['spec'] ?? {}) as { signerName?: string | undefined }).signerName ?? '',
  },
})
