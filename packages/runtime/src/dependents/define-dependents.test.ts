import { ConfigMap, Deployment } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { Home } from '../reconcile/testdata/home.ts'
import { defineDependents } from './define-dependents.ts'
import { dependent } from './dependent.ts'

const page = dependent('page', ConfigMap, {
  desired: (home: Home) => ConfigMap({ metadata: { name: home.metadata.name } }),
})
const server = dependent('server', Deployment, {
  dependsOn: [page],
  desired: (home: Home) =>
    Deployment({
      metadata: { name: home.metadata.name },
      spec: { selector: {}, template: { spec: { containers: [] } } },
    }),
})

describe('defineDependents()', () => {
  test('returns a controller that owns the kinds and may delete their objects', () => {
    const { owns, rbac, prune } = defineDependents(Home, { dependents: [page, server] })
    expect(owns.map(({ kind }) => kind.kind)).toEqual(['ConfigMap', 'Deployment'])
    expect(rbac).toMatchObject([
      { resources: ['configmaps'], verbs: ['delete'] },
      { resources: ['deployments'], verbs: ['delete'] },
    ])
    expect(prune).toBe(false)
  })

  test('uses a finalizer only if the clean-up has an order', () => {
    expect(defineDependents(Home, { dependents: [page] }).cleanup).toBeUndefined()
    expect(defineDependents(Home, { dependents: [page, server] }).cleanup).toBeDefined()
  })

  test('rejects an empty list, two dependents with one name, and a dependency that comes later', () => {
    expect(() => defineDependents(Home, { dependents: [] })).toThrow("'dependents' is empty")
    expect(() => defineDependents(Home, { dependents: [page, page] })).toThrow('two dependents are named "page"')
    expect(() => defineDependents(Home, { dependents: [server, page] })).toThrow(
      '"server" depends on "page", which does not come before it',
    )
  })
})

describe('dependent()', () => {
  test('rejects a name that cannot be a label', () => {
    expect(() => dependent('My page', ConfigMap, { desired: () => ConfigMap({ metadata: { name: 'a' } }) })).toThrow(
      'Cannot define dependent "My page" as its name is invalid',
    )
  })
})
