import { describe, expect, test } from 'vitest'
import { channelsOf } from './bundle-inputs.ts'
import { resolveOptions } from './manifest-options.ts'

describe('resolveOptions()', () => {
  test('accepts valid images and namespaces, and refuses others', () => {
    const image = `registry.example.com:5000/team/homes:1.2@sha256:${'0'.repeat(64)}`
    expect(resolveOptions('homes', { image })).toMatchObject({ namespace: 'homes-system', image })
    expect(() => resolveOptions('homes', { image: 'two words' })).toThrow('--image must be a container image')
    expect(() => resolveOptions('homes', { namespace: 'My_NS' })).toThrow('--namespace must be lower case')
  })
})

describe('channelsOf()', () => {
  test('refuses invalid channels', () => {
    expect(channelsOf({ channels: 'alpha, stable-v1.2' }, new Map())).toEqual({ channels: ['alpha', 'stable-v1.2'] })
    expect(() => channelsOf({ channels: 'a b' }, new Map())).toThrow('must be words such as "alpha"')
    expect(() => channelsOf({ 'default-channel': '' }, new Map())).toThrow('not ""')
  })
})
