import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { ingressClasses } from './ingress-class.ts'

const { defaulted, updated } = strategyHarness(ingressClasses)

function object(kind: string, spec: object, name = 'n'): object {
  return { apiVersion: 'networking.k8s.io/v1', kind, metadata: { name }, spec }
}

describe('ingress classes', () => {
  test('default to parameters with cluster scope', () => {
    const spec = { controller: 'example.com/c', parameters: { kind: 'P', name: 'p' } }
    expect(defaulted(object('IngressClass', spec))['spec']).toMatchObject({ parameters: { scope: 'Cluster' } })
  })

  test('reject a change of the controller', async () => {
    const { errors } = await updated(object('IngressClass', { controller: 'example.com/c' }), (next) => {
      next['spec'] = { controller: 'example.com/d' }
    })
    expect(errors).toEqual(['spec.controller: Invalid value: "example.com/d": field is immutable'])
  })

  test('show controller and parameters', () => {
    expect(
      cellsOf(ingressClasses, {
        spec: { controller: 'e.com/c', parameters: { apiGroup: 'k.e.com', kind: 'P', name: 'n' } },
      }),
    ).toEqual(['x', 'e.com/c', 'P.k.e.com/n', '60m'])
  })
})
