import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { podTemplate, shownSelector, shownTemplate, workload } from '../../../testdata/workload-object.ts'
import { daemonSets } from './daemon-set.ts'

const { createErrors, prepared, updated } = strategyHarness(daemonSets)

describe('daemon sets', () => {
  const key = 'deprecated.daemonset.template.generation'

  test('count changes of the pod template in an annotation', async () => {
    expect(prepared(workload('DaemonSet')).metadata.annotations).toEqual({ [key]: '1' })
    const { object } = await updated(workload('DaemonSet'), (next) => {
      const spec = next['spec'] as { template: { spec: { containers: { image: string }[] } } }
      spec.template.spec.containers[0]!.image = 'nginx:1.26'
    })
    expect(object.metadata.annotations).toEqual({ [key]: '2' })
  })

  test.each<[string, object, string[]]>([
    [
      'reject maxSurge together with maxUnavailable',
      { updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } },
      ['spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero'],
    ],
    [
      'reject maxSurge and maxUnavailable of 0',
      { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      ['spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0'],
    ],
    [
      'reject a restart policy other than Always',
      { template: { ...podTemplate, spec: { ...podTemplate.spec, restartPolicy: 'Never' } } },
      ['spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(workload('DaemonSet', spec))).toEqual(errors)
  })

  test('show the numbers of nodes, the node selector and the containers', () => {
    expect(
      cellsOf(daemonSets, {
        spec: { selector: shownSelector, template: shownTemplate },
        status: {
          desiredNumberScheduled: 5,
          currentNumberScheduled: 4,
          numberReady: 3,
          updatedNumberScheduled: 2,
          numberAvailable: 1,
        },
      }),
    ).toEqual(['x', 5, 4, 3, 2, 1, 'disk=ssd', '60m', 'c1,c2', 'i1,i2', 'a=b,k in (1,2)'])
  })
})
