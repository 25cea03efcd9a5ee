import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { shownTemplate } from '../../../testdata/workload-object.ts'
import { podTemplates } from './pod-template.ts'

const { createErrors } = strategyHarness(podTemplates)

describe('pod templates', () => {
  test.each<[string, object, string[]]>([
    ['a template without containers', {}, ['template.spec.containers: Required value']],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'x' }, ...fields })).toEqual(
      errors,
    )
  })

  test('show containers and labels', () => {
    expect(cellsOf(podTemplates, { template: shownTemplate })).toEqual(['x', 'c1,c2', 'i1,i2', 't=1'])
  })
})
