import { kubernetes, releaseVersions } from '@kubewright/k8s/releases'
import { describe, expect, test } from 'vitest'
import { defaultServedRelease } from '../codec/served-release.ts'
import type { MutableObject } from '../resource/object.ts'
import { tableTime } from '../testdata/strategy-harness.ts'
import { builtinResources } from './builtin-resources.ts'
import { builtins } from './builtins.ts'

/** Resources that have the default table in kube-apiserver too. */
const withoutColumns = [
  '/limitranges',
  'apiextensions.k8s.io/customresourcedefinitions',
  'rbac.authorization.k8s.io/clusterroles',
  'rbac.authorization.k8s.io/roles',
  'storage.k8s.io/csistoragecapacities',
]

const tables = builtins.flatMap(({ group, resource, table }) =>
  table ? [[`${group}/${resource}`, table] as const] : [],
)

describe('builtins', () => {
  test('define columns for every resource of any release that can be listed', async () => {
    const releases = await Promise.all(releaseVersions.map((version) => kubernetes(version)))
    const listed = releases
      .flatMap((release) => release.groups)
      .flatMap(({ group, versions }) =>
        versions.flatMap(({ resources }) =>
          resources.filter(({ verbs }) => verbs.includes('list')).map(({ resource }) => `${group}/${resource}`),
        ),
      )
    const defined = new Set([...tables.map(([key]) => key), ...withoutColumns])
    expect([...defined].sort()).toEqual([...new Set(listed)].sort())
  })

  test.each(tables)('fill every column of %s for an object without fields', (key, { columns, row }) => {
    const bookmark: MutableObject = { apiVersion: '', kind: '', metadata: {}, spec: null, status: null }
    const cells = row(bookmark, tableTime)
    // As in kube-apiserver: rows of IP addresses have an age without a column.
    expect(cells).toHaveLength(columns.length + (key === 'networking.k8s.io/ipaddresses' ? 1 : 0))
    expect(cells).not.toContain(undefined)
  })
})

describe('builtinResources()', () => {
  test('leaves out the definition of a resource that the release does not have', () => {
    const names = builtinResources(defaultServedRelease, [{ group: 'apps', resource: 'later' }]).map(
      ({ kind }) => kind.plural,
    )
    expect(names).not.toContain('later')
    expect(names).toContain('deployments')
  })
})
