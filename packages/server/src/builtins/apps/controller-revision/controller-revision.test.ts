import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { controllerRevisions } from './controller-revision.ts'

const { createErrors, updated } = strategyHarness(controllerRevisions)

describe('controller revisions', () => {
  const revision = { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata: { name: 'r' }, revision: 1 }

  test.each<[string, object, string[]]>([
    ['accept an object as data', { data: { a: 1 } }, []],
    ['require data', {}, ['data: Required value: data is mandatory']],
    [
      'reject negative revisions',
      { data: {}, revision: -1 },
      ['revision: Invalid value: -1: must be greater than or equal to 0'],
    ],
  ])('%s', async (_, fields, errors) => {
    expect(await createErrors({ ...revision, ...fields })).toEqual(errors)
  })

  test('reject a change of the data', async () => {
    const { errors } = await updated({ ...revision, data: { a: 1 } }, (object) => {
      object['data'] = { a: 2 }
    })
    expect(errors).toEqual(['data: Invalid value: {"a":2}: field is immutable'])
  })

  test('show the owning controller and the revision', () => {
    expect(
      cellsOf(controllerRevisions, {
        metadata: {
          ownerReferences: [
            { apiVersion: 'v1', kind: 'Pod', name: 'no' },
            { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', controller: true },
          ],
        },
        revision: 4,
      }),
    ).toEqual(['x', 'statefulset.apps/web', 4, '60m'])
  })
})
