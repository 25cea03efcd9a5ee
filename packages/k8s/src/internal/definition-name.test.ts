import { describe, expect, test } from 'vitest'
import { publishedName, shortName } from './definition-name.ts'

const names = [
  ['core/v1', 'Pod', 'io.k8s.api.core.v1.Pod'],
  ['autoscaling/v2', 'MetricSpec', 'io.k8s.api.autoscaling.v2.MetricSpec'],
  ['meta/v1', 'ObjectMeta', 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'],
  ['meta/v1', 'Quantity', 'io.k8s.apimachinery.pkg.api.resource.Quantity'],
  ['meta/v1', 'VersionInfo', 'io.k8s.apimachinery.pkg.version.Info'],
  ['apiextensions/v1', 'JSON', 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON'],
  ['apiregistration/v1', 'APIService', 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService'],
] as const

describe('publishedName()', () => {
  test.each(names)('of %s %s is %s', (table, local, published) => {
    expect(publishedName(table, local)).toBe(published)
  })
})

describe('shortName()', () => {
  test.each(names)('finds %s %s from %s', (table, local, published) => {
    expect(shortName(published)).toEqual({ table, local })
  })

  test.each(['returns undefined for %j', 'Pod', ''])('knows no %j', (published) => {
    expect(shortName(published)).toBeUndefined()
  })
})
