import { expect, test } from 'vitest'
import { storageVersionHash } from './storage-version-hash.ts'

test.each([
  ['', 'v1', 'ConfigMap', 'qFsyl6wFWjQ='],
  ['apps', 'v1', 'ControllerRevision', '85nkx63pcBU='],
  // Kinds whose storage version or group differs from the served one.
  ['events.k8s.io', 'v1', 'Event', 'r2yiGXH7wu8='],
  ['autoscaling', 'v1', 'HorizontalPodAutoscaler', 'qwQve8ut294='],
  ['storage.k8s.io', 'v1', 'VolumeAttributesClass', 'Bl3MtjZ/n/s='],
  ['apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'jfWCUB31mvA='],
])('storageVersionHash() of %s/%s %s equals that of kube-apiserver', (group, version, kind, hash) => {
  expect(storageVersionHash({ group, version, kind })).toBe(hash)
})
