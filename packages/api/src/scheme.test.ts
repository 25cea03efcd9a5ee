import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('Scheme', () => {
  const make = (group: string, version: string, kind: string, shortNames: string[] = []): api.AnyKind =>
    api.createKind({
      group,
      version,
      kind,
      plural: api.guessPlural(kind),
      shortNames,
      schema: () => ({ type: 'object' }),
    })
  const [pod, deploy, old] = [
    make('', 'v1', 'Pod', ['po']),
    make('apps', 'v1', 'Deployment', ['deploy']),
    make('apps', 'v1beta1', 'Deployment'),
  ]
  const scheme = new api.Scheme([pod, old, deploy], { name: 'test' })

  test('finds kinds by kind, resource and user-typed word', () => {
    expect(scheme.kindOf({ apiVersion: 'apps/v1', kind: 'Deployment' })).toBe(deploy)
    expect(scheme.kindOf({ apiVersion: 'v1', kind: 'Pod' })).toBe(pod)
    expect(scheme.forResource({ group: 'apps', version: 'v1beta1', resource: 'deployments' })).toBe(old)
    expect(scheme.versionsOf('apps', 'Deployment')).toEqual(['v1', 'v1beta1'])
    expect(['po', 'PODS', 'pod', 'deployment.apps', 'nosuch'].map((word) => scheme.match(word))).toEqual([
      [pod],
      [pod],
      [pod],
      [deploy],
      [],
    ])
    expect(scheme.kinds('apps')).toEqual([old, deploy])
  })

  test('throws the errors of runtime.Scheme', () => {
    expect(() => scheme.kindOf({ apiVersion: 'apps/v2', kind: 'Deployment' })).toThrow(
      'no kind "Deployment" is registered for version "apps/v2" in scheme "test"',
    )
    expect(() => scheme.get({ group: '', version: 'v9', kind: '' })).toThrow(
      'no version "v9" has been registered in scheme "test"',
    )
    expect(() => scheme.forResource({ group: '', version: 'v1', resource: 'x' })).toThrow(
      'no matches for /v1, Resource=x',
    )
    expect(scheme.register(pod)).toBe(scheme)
    expect(() => scheme.register(make('', 'v1', 'Pod'))).toThrow(
      'Double registration of different types for /v1, Kind=Pod',
    )
  })

  test('createKind() resolves the schema once, on first access', () => {
    let calls = 0
    const kind = api.createKind({
      group: '',
      version: 'v1',
      kind: 'X',
      plural: 'xs',
      schema: () => ({ title: `${++calls}` }),
    })
    expect([calls, kind.schema, kind.schema, calls]).toEqual([0, { title: '1' }, { title: '1' }, 1])
    expect([api.isKind(kind), api.isKind(() => 1), api.isKind({})]).toEqual([true, false, false])
  })
})
