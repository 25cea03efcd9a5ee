import { defaultRelease } from '@kubewright/k8s/releases'
import { expect, test } from 'vitest'
import { defaultServedRelease } from '../../codec/served-release.ts'
import type { DecodeRequest } from '../../resource/object-codec.ts'
import { decodeTyped } from './decode-typed.ts'

function problemOf(kind: string, apiVersion: string): string {
  const [group, version] = ['apps', 'v1']
  const request: DecodeRequest = { mediaType: 'application/json', fieldValidation: 'Strict', warn: () => {} }
  const body = new TextEncoder().encode(JSON.stringify({ apiVersion, kind, metadata: { name: 'x' } }))
  try {
    decodeTyped(
      { release: defaultServedRelease, kind: defaultRelease.kindFor({ group, version, kind })! },
      {},
      body,
      request,
    )
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

test('isFormerVersion() recognizes versions that were served once, and no others', () => {
  for (const apiVersion of ['apps/v1beta2', 'extensions/v1beta1']) {
    expect(problemOf('DaemonSet', apiVersion)).toBe(
      `the API version in the data (${apiVersion}) does not match the expected API version (apps/v1)`,
    )
  }
  expect(problemOf('DaemonSet', 'apps/v1beta1')).toContain(
    'no kind "DaemonSet" is registered for version "apps/v1beta1"',
  )
})
