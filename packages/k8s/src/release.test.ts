import type { JSONSchemaProps } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defaultRelease } from './releases.ts'

const schema = (group: string, version: string, kind: string): JSONSchemaProps =>
  defaultRelease.kindFor({ group, version, kind })!.schema

/** Returns the schema at a path of field names. `[]` descends into a list, `{}` into a map. */
function at(root: JSONSchemaProps, path: string): JSONSchemaProps {
  let node: JSONSchemaProps = root
  for (const step of path.split('.')) {
    const next =
      step === '[]'
        ? node.items
        : step === '{}'
          ? (node.additionalProperties as JSONSchemaProps)
          : node.properties?.[step]
    if (next === undefined) throw new Error(`${path} has no ${step}`)
    node = next
  }
  return node
}

describe('Release.kinds', () => {
  test.each(defaultRelease.kinds.map((kind) => [`${kind.apiVersion} ${kind.kind}`, kind] as const))(
    '%s has the schema of a complete object',
    (_, kind) => {
      expect(kind.schema.type).toBe('object')
      expect(Object.keys(kind.schema.properties ?? {})).toEqual(
        expect.arrayContaining(['apiVersion', 'kind', 'metadata']),
      )
      expect(kind.schema.properties?.['metadata']?.properties?.['resourceVersion']).toEqual({ type: 'string' })
      expect(kind.schema['x-kubernetes-group-version-kind']).toEqual([
        { group: kind.group, version: kind.version, kind: kind.kind },
      ])
      expect(kind.schema).toBe(kind.schema)
    },
  )

  test('has no schema with an unresolved reference, an undefined node or a list without elements', () => {
    const seen = new Set<JSONSchemaProps>()
    const visit = (node: JSONSchemaProps, path: string): void => {
      if (seen.has(node)) return
      seen.add(node)
      expect(node, path).toBeTypeOf('object')
      expect(node.$ref, path).toBeUndefined()
      expect(node.allOf, path).toBeUndefined()
      if (node.type === 'array') expect(node.items, path).toBeDefined()
      if (node['x-kubernetes-list-type'] === 'map') {
        for (const key of node['x-kubernetes-list-map-keys'] ?? ['a key'])
          expect(node.items?.properties, path).toHaveProperty(key)
      }
      const mergeKey = node['x-kubernetes-patch-merge-key']
      if (mergeKey !== undefined) expect(node.items?.properties, path).toHaveProperty(mergeKey)
      for (const name of node.required ?? []) expect(node.properties, path).toHaveProperty(name)
      for (const [name, field] of Object.entries(node.properties ?? {})) visit(field, `${path}.${name}`)
      if (node.items) visit(node.items, `${path}[]`)
      if (typeof node.additionalProperties === 'object') visit(node.additionalProperties, `${path}{}`)
    }
    for (const kind of defaultRelease.kinds) visit(kind.schema, kind.kind)
    expect(seen.size).toBeGreaterThan(2000)
  })

  test('covers every resource of the discovery facts and agrees with them', () => {
    for (const { group, versions } of defaultRelease.groups) {
      for (const { version, resources } of versions) {
        for (const resource of resources) {
          const kind = defaultRelease.kindFor({ group, version, kind: resource.kind })
          expect({ ...kind }, `${group}/${version} ${resource.kind}`).toMatchObject({
            plural: resource.resource,
            singular: resource.singular,
            scope: resource.scope,
            shortNames: resource.shortNames ?? [],
            categories: resource.categories ?? [],
            subresources: (resource.subresources ?? []).map((s) => s.name),
          })
        }
      }
    }
  })

  test('has no two kinds with the same name in a group and version', () => {
    const names = defaultRelease.kinds.map((kind) => `${kind.apiVersion} ${kind.kind}`)
    expect(new Set(names).size).toBe(names.length)
    expect(names.length).toBe(69)
  })
})

describe('Release.kindFor()', () => {
  test.each([
    ['', 'v1', 'Pod', 'pods', 'Namespaced', ['po']],
    ['apps', 'v1', 'Deployment', 'deployments', 'Namespaced', ['deploy']],
    ['rbac.authorization.k8s.io', 'v1', 'ClusterRole', 'clusterroles', 'Cluster', []],
    ['autoscaling', 'v1', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'Namespaced', ['hpa']],
    ['events.k8s.io', 'v1', 'Event', 'events', 'Namespaced', ['ev']],
  ])('finds %s/%s %s', (group, version, kind, plural, scope, shortNames) => {
    expect({ ...defaultRelease.kindFor({ group, version, kind }) }).toMatchObject({
      group,
      version,
      kind,
      plural,
      scope,
      shortNames,
    })
  })

  test.each([
    ['apps', 'v1beta1', 'Deployment'],
    ['', 'v1', 'Deployment'],
    ['example.com', 'v1', 'Home'],
  ])('returns undefined for %s/%s %s', (group, version, kind) => {
    expect(defaultRelease.kindFor({ group, version, kind })).toBeUndefined()
  })

  test('distinguishes the versions of a kind', () => {
    const [v1, v2] = ['v1', 'v2'].map((version) => schema('autoscaling', version, 'HorizontalPodAutoscaler'))
    expect(at(v1!, 'spec').properties).toHaveProperty('targetCPUUtilizationPercentage')
    expect(at(v2!, 'spec').properties).toHaveProperty('metrics')
  })
})

describe('schemas of built-in kinds', () => {
  const pod = schema('', 'v1', 'Pod')

  test.each([
    ['spec.containers', 'merge', 'name', ['name']],
    ['spec.containers.[].ports', 'merge', 'containerPort', ['containerPort', 'protocol']],
    ['spec.containers.[].env', 'merge', 'name', ['name']],
    ['spec.containers.[].volumeMounts', 'merge', 'mountPath', ['mountPath']],
    ['spec.volumes', 'merge,retainKeys', 'name', ['name']],
    ['spec.topologySpreadConstraints', 'merge', 'topologyKey', ['topologyKey', 'whenUnsatisfiable']],
    ['metadata.ownerReferences', 'merge', 'uid', ['uid']],
  ])('Pod %s has merge keys', (path, strategy, mergeKey, keys) => {
    expect(at(pod, path)).toMatchObject({
      type: 'array',
      'x-kubernetes-patch-strategy': strategy,
      'x-kubernetes-patch-merge-key': mergeKey,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': keys,
    })
  })

  test.each([
    ['spec.containers.[].ports.[].protocol', 'TCP'],
    ['spec.volumes.[].iscsi.iscsiInterface', 'default'],
    ['spec.volumes.[].azureDisk.readOnly', false],
    ['spec.volumes', undefined],
    ['spec', {}],
  ])('Pod %s has the published default %j', (path, value) => {
    expect(at(pod, path).default).toEqual(value)
  })

  test('state required, atomic, enumerated and formatted fields', () => {
    expect(at(pod, 'spec').required).toEqual(['containers'])
    expect(at(pod, 'spec.nodeSelector')['x-kubernetes-map-type']).toBe('atomic')
    expect(at(pod, 'spec.containers.[].command')['x-kubernetes-list-type']).toBe('atomic')
    expect(at(pod, 'metadata.finalizers')['x-kubernetes-list-type']).toBe('set')
    expect(at(pod, 'spec.restartPolicy').enum).toEqual(['Always', 'Never', 'OnFailure'])
    expect(at(pod, 'spec.priority')).toEqual({ type: 'integer', format: 'int32' })
    expect(at(pod, 'metadata.creationTimestamp')).toEqual({ type: 'string', format: 'date-time' })
    expect(at(schema('', 'v1', 'Secret'), 'data.{}')).toEqual({ type: 'string', format: 'byte' })
    expect(at(schema('certificates.k8s.io', 'v1', 'CertificateSigningRequest'), 'spec.usages.[]').enum).toContain(
      'cert sign',
    )
  })

  test('mark int-or-string, quantities and free-form objects', () => {
    expect(at(schema('', 'v1', 'Service'), 'spec.ports.[].targetPort')['x-kubernetes-int-or-string']).toBe(true)
    expect(at(pod, 'spec.containers.[].resources.limits.{}').oneOf).toEqual([{ type: 'string' }, { type: 'number' }])
    expect(at(schema('apps', 'v1', 'ControllerRevision'), 'data')).toEqual({
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-map-type': 'atomic',
    })
  })

  test('let a field override keywords of the type that it refers to', () => {
    expect(at(schema('apps', 'v1', 'Deployment'), 'spec.strategy')['x-kubernetes-patch-strategy']).toBe('retainKeys')
    expect(at(schema('', 'v1', 'PersistentVolume'), 'spec.claimRef')['x-kubernetes-map-type']).toBe('granular')
    expect(at(schema('', 'v1', 'Event'), 'involvedObject')['x-kubernetes-map-type']).toBe('atomic')
  })

  test('share the schema of a type between the kinds that use it', () => {
    const template = at(schema('apps', 'v1', 'Deployment'), 'spec.template')
    expect(template.properties).toBe(at(schema('batch', 'v1', 'Job'), 'spec.template').properties)
    expect(at(template, 'spec').properties).toBe(at(pod, 'spec').properties)
  })

  test('are cyclic where the API is', () => {
    const root = at(
      schema('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition'),
      'spec.versions.[].schema.openAPIV3Schema',
    )
    expect(at(root, 'not')).toBe(root)
    expect(at(root, 'properties.{}').properties).toBe(root.properties)
  })
})

describe('Release.groups', () => {
  test('starts with the core group and lists each group once', () => {
    const names = defaultRelease.groups.map((g) => g.group)
    expect(names[0]).toBe('')
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('apps')
    expect(names).toContain('flowcontrol.apiserver.k8s.io')
  })

  test('has the subresources of pods with the kinds of their bodies', () => {
    const pods = defaultRelease.groups[0]?.versions[0]?.resources.find((r) => r.resource === 'pods')
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
    const resources = defaultRelease.groups.flatMap((g) => g.versions.flatMap((v) => v.resources))
    expect(resources.length).toBeGreaterThan(60)
    for (const resource of resources) {
      expect(resource.kind).toMatch(/^[A-Z]\w+$/)
      expect(resource.singular).toBe(resource.kind.toLowerCase())
      expect(resource.verbs.length).toBeGreaterThan(0)
    }
  })
})
