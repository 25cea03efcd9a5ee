import { expect, test } from 'vitest'
import type { ServerParts } from '../api-server.ts'
import { PlainServer } from '../testdata/plain-server.ts'
import { pluginParts } from '../testdata/plugin-parts.ts'
import { admissionPlugins } from './admission-plugins.ts'

const order = [
  'CustomResourceDefinitionTerminating',
  'NamespaceLifecycle',
  'LimitRanger',
  'ServiceAccount',
  'TaintNodesByCondition',
  'PodSecurity',
  'Priority',
  'DefaultTolerationSeconds',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'PodTopologyLabels',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
]

test('admissionPlugins() lists the plugins in the order of kube-apiserver', async () => {
  await using server = await PlainServer.start()
  const names = (parts: ServerParts, ...enabled: 'OwnerReferencesPermissionEnforcement'[]): string[] =>
    admissionPlugins(pluginParts(parts), enabled).map(({ name }) => name)
  expect(names(server.server.parts)).toEqual(order)
  const at = order.indexOf('PersistentVolumeClaimResize')
  expect(names(server.server.parts, 'OwnerReferencesPermissionEnforcement')).toEqual(
    order.toSpliced(at, 0, 'OwnerReferencesPermissionEnforcement'),
  )
})
