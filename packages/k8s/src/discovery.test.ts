import { describe, expect, test } from 'vitest'
import { discoveryGroups, preferredVersion } from './discovery.ts'

describe('discoveryGroups()', () => {
  test('starts with the core group and lists each group once', () => {
    const names = discoveryGroups().map((g) => g.group)
    expect(names[0]).toBe('')
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('apps')
    expect(names).toContain('flowcontrol.apiserver.k8s.io')
  })

  test('has the subresources of pods with the kinds of their bodies', () => {
    const pods = discoveryGroups()[0]?.versions[0]?.resources.find((r) => r.resource === 'pods')
    expect(pods?.subresources?.map((s) => s.name)).toEqual([
      'attach',
      'binding',
      'ephemeralcontainers',
      'eviction',
      'exec',
      'log',
      'portforward',
      'proxy',
      'resize',
      'status',
    ])
    expect(pods?.subresources?.find((s) => s.name === 'eviction')).toEqual({
      name: 'eviction',
      kind: 'Eviction',
      group: 'policy',
      version: 'v1',
      verbs: ['create'],
    })
    expect(pods?.subresources?.find((s) => s.name === 'status')).toEqual({
      name: 'status',
      kind: 'Pod',
      verbs: ['get', 'patch', 'update'],
    })
  })

  test('gives every resource a kind, a singular name and verbs', () => {
    const resources = discoveryGroups().flatMap((g) => g.versions.flatMap((v) => v.resources))
    expect(resources.length).toBeGreaterThan(60)
    for (const resource of resources) {
      expect(resource.kind).toMatch(/^[A-Z]\w+$/)
      expect(resource.singular).toBe(resource.kind.toLowerCase())
      expect(resource.verbs.length).toBeGreaterThan(0)
    }
  })
})

describe('preferredVersion()', () => {
  test.each([
    ['', 'v1'],
    ['autoscaling', 'v2'],
    ['apps', 'v1'],
    ['example.com', undefined],
  ])('of group %j is %s', (group, version) => {
    expect(preferredVersion(group)).toBe(version)
  })
})
