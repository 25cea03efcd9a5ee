import { expect, test } from 'vitest'
import { canonicalJson, revisionHash, templateHash } from './template-hash.ts'

test('templateHash() depends on the content, not on the order of members', () => {
  expect(templateHash({ a: 1, b: [1, 2] })).toBe(templateHash({ b: [1, 2], a: 1 }))
  expect(templateHash({ a: 1, b: [1, 2] })).not.toBe(templateHash({ a: 1, b: [2, 1] }))
})

test('templateHash() differs for each collision and uses label-safe characters', () => {
  const hashes = new Set([undefined, 0, 1, 2].map((collisions) => templateHash({ a: 1 }, collisions)))
  expect(hashes.size).toBe(4)
  for (const hash of hashes) expect(hash).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{1,10}$/)
})

test('canonicalJson() omits undefined members', () => {
  expect(canonicalJson({ b: undefined, a: null, c: 'x' })).toBe('{"a":null,"c":"x"}')
})

test('revisionHash() equals the hash of kube-controller-manager v1.35.8', () => {
  const template = {
    $patch: 'replace',
    metadata: { annotations: { a: '<b>&\u2028' }, labels: { app: 'x' } },
    spec: {
      containers: [
        {
          image: 'nginx:1.25',
          imagePullPolicy: 'IfNotPresent',
          name: 'c',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
    },
  }
  expect(revisionHash({ spec: { template } }, 0)).toBe('6646589cd9')
})
