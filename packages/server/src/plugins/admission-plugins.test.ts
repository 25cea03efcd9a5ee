import { expect, test } from 'vitest'
import { PlainServer } from '../testdata/plain-server.ts'
import { pluginParts } from '../testdata/plugin-parts.ts'
import { admissionPlugins, defaultAdmissionPlugins, optionalAdmissionPlugins } from './admission-plugins.ts'

/** The order of all plugins of kube-apiserver v1.35 (pkg/kubeapiserver/options/plugins.go). */
const kubernetesOrder = [
  'AlwaysAdmit',
  'NamespaceAutoProvision',
  'NamespaceLifecycle',
  'NamespaceExists',
  'LimitPodHardAntiAffinityTopology',
  'LimitRanger',
  'ServiceAccount',
  'NodeRestriction',
  'TaintNodesByCondition',
  'AlwaysPullImages',
  'ImagePolicyWebhook',
  'PodSecurity',
  'PodNodeSelector',
  'Priority',
  'DefaultTolerationSeconds',
  'PodTolerationRestriction',
  'EventRateLimit',
  'ExtendedResourceToleration',
  'DefaultStorageClass',
  'StorageObjectInUseProtection',
  'OwnerReferencesPermissionEnforcement',
  'PersistentVolumeClaimResize',
  'RuntimeClass',
  'CertificateApproval',
  'CertificateSigning',
  'ClusterTrustBundleAttest',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DenyServiceExternalIPs',
  'PodTopologyLabels',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
  'ResourceQuota',
  'AlwaysDeny',
]

test('admissionPlugins() lists the plugins in the order of kube-apiserver', async () => {
  await using server = await PlainServer.start()
  const [first, ...names] = admissionPlugins(pluginParts(server.server.parts), optionalAdmissionPlugins).map(
    ({ name }) => name,
  )
  expect(first).toBe('CustomResourceDefinitionTerminating')
  expect(names).toEqual(kubernetesOrder.filter((name) => names.includes(name)))
})

test('admissionPlugins() omits optional plugins that are not enabled', async () => {
  await using server = await PlainServer.start()
  const names = admissionPlugins(pluginParts(server.server.parts)).map(({ name }) => name)
  for (const name of optionalAdmissionPlugins) expect(names).not.toContain(name)
  // The default release has no MutatingAdmissionPolicies.
  expect(names.slice(1)).toEqual(defaultAdmissionPlugins.filter((name) => name !== 'MutatingAdmissionPolicy'))
})
