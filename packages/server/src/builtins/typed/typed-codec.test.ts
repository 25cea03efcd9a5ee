import { defaultRelease } from '@kubewright/k8s/releases'
import { expect, test } from 'vitest'
import { defaultServedRelease } from '../../codec/served-release.ts'
import type { MutableObject } from '../../resource/object.ts'
import { typedCodec } from './typed-codec.ts'

test('typedCodec().recheck() shares nothing with its argument but the sets of fields of managers', () => {
  const kind = defaultRelease.kindFor({ group: 'apps', version: 'v1', kind: 'ControllerRevision' })!
  const object = {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: 'a',
      labels: { a: '1' },
      managedFields: [
        {
          manager: 'm',
          operation: 'Update',
          apiVersion: 'apps/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': {} },
        },
      ],
    },
    data: { spec: { list: [{ a: 1 }] } },
    revision: 1,
  } as unknown as MutableObject
  const rechecked = typedCodec(defaultServedRelease, kind).recheck(object, { strict: false, source: 'json' }).object
  expect(rechecked).toEqual(object)
  const shared = commonParts(object, partsOf(rechecked))
  expect(shared).toEqual([{ 'f:data': {} }])
})

function partsOf(value: unknown, parts: Set<unknown> = new Set()): Set<unknown> {
  if (typeof value !== 'object' || value === null) return parts
  parts.add(value)
  for (const member of Object.values(value)) partsOf(member, parts)
  return parts
}

/** The outermost parts of a value that are among others. */
function commonParts(value: unknown, others: ReadonlySet<unknown>): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (others.has(value)) return [value]
  return Object.values(value).flatMap((member) => commonParts(member, others))
}
