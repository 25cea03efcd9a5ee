import { defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { Home, homeConversion } from '../webhook/conversion/testdata/home.ts'
import { convertObject } from './convert-object.ts'
import { defineConversion, type Spoke, spoke } from './define-conversion.ts'

const same = <K extends typeof Home>(kind: unknown): Spoke<K> =>
  spoke(kind as never, { toHub: (object: object) => object, fromHub: (object: object) => object } as never)

describe('defineConversion()', () => {
  test('requires exactly one spoke for each version except the hub', () => {
    const { v1, v1beta1, v1alpha1 } = Home.versions
    expect(() => defineConversion(Home, [same(v1beta1)])).toThrow(
      'Cannot define conversion of Home.ajd.example.com as version v1alpha1 has no spoke: add one for it',
    )
    expect(() => defineConversion(Home, [same(v1beta1), same(v1beta1), same(v1alpha1)])).toThrow(
      'version v1beta1 has two spokes',
    )
    expect(() => defineConversion(Home, [same(v1), same(v1beta1), same(v1alpha1)])).toThrow('version v1 is the hub')
  })

  test('rejects other kinds, and versions that were defined elsewhere', () => {
    const spec = s.object({ a: s.string() })
    const Other = defineResource({ group: 'ajd.example.com', version: 'v2', kind: 'Other', spec })
    const Later = defineResource({ group: 'ajd.example.com', version: 'v2', kind: 'Home', spec })
    expect(() => defineConversion(Home, [same(Other)])).toThrow('the spoke Other.ajd.example.com is another kind')
    const { v1beta1, v1alpha1 } = Home.versions
    expect(() => defineConversion(Home, [same(v1beta1), same(v1alpha1), same(Later)])).toThrow(
      `the definition of the hub lacks version v2: define all versions together with 'versions'`,
    )
    expect(() => defineConversion(Later, [])).toThrow('it has no spokes')
  })
})

describe('Conversion.convert()', () => {
  test('returns the object in the type of the other version', () => {
    const old = { apiVersion: 'ajd.example.com/v1alpha1', kind: 'Home', spec: { container: 'nginx', size: 2 } }
    expect(homeConversion.convert({ ...old, metadata: { name: 'cosy' } }, Home).spec.image).toBe('nginx')
  })
})

describe('convertObject()', () => {
  const metadata = {
    name: 'cosy',
    namespace: 'default',
    uid: '1',
    labels: { a: 'b' },
    ownerReferences: [{ name: 'x' }],
  }
  const home = {
    apiVersion: 'ajd.example.com/v1beta1',
    kind: 'Home',
    metadata,
    spec: { container: 'nginx', replicas: 2, ports: [80] },
  }

  test('converts between spokes through the hub', () => {
    expect(convertObject([homeConversion], home, 'ajd.example.com/v1alpha1')).toEqual({
      apiVersion: 'ajd.example.com/v1alpha1',
      kind: 'Home',
      metadata: { ...metadata, annotations: { 'ajd.example.com/v1': '{"ports":[80]}' } },
      spec: { container: 'nginx', size: 2 },
    })
  })

  test('preserves metadata except for returned labels and annotations', () => {
    const meddling = defineConversion(
      Home,
      [Home.versions.v1beta1, Home.versions.v1alpha1].map((kind) =>
        spoke(
          kind as never,
          {
            toHub: () => ({
              metadata: { name: 'other', uid: '2', labels: { c: 'd' } },
              apiVersion: 'x/v9',
              kind: 'Else',
            }),
          } as never,
        ),
      ),
    )
    expect(convertObject([meddling], home, 'ajd.example.com/v1')).toEqual({
      apiVersion: 'ajd.example.com/v1',
      kind: 'Home',
      metadata: { ...metadata, labels: { c: 'd' } },
    })
  })

  test.each([
    [
      'ajd.example.com/v1beta1',
      'conversion is not allowed between same type: Home "default/cosy" is of ajd.example.com/v1beta1 already',
    ],
    [
      'ajd.example.com/v2',
      'Home "default/cosy" cannot be converted from or to version v2: the conversion supports v1, v1beta1, v1alpha1',
    ],
    [
      'example.org/v1',
      'Home "default/cosy" of ajd.example.com/v1beta1 cannot be converted to another group: example.org/v1',
    ],
  ])('names the object when it cannot be converted to %s', (desired, message) => {
    expect(() => convertObject([homeConversion], home, desired)).toThrow(message)
  })

  test('names a kind without a conversion', () => {
    expect(() => convertObject([homeConversion], { ...home, kind: 'Tent' }, 'ajd.example.com/v1')).toThrow(
      'the operator has no conversion for Tent.ajd.example.com',
    )
  })
})
