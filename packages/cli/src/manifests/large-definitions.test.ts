import { defineResource } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { largeDefinitions } from './large-definitions.ts'
import { describeOperator } from './operator-description.ts'

const operatorWith = (length: number) => {
  const spec = s.object({ text: s.string().describe('x'.repeat(length)) })
  const kind = defineResource({ group: 'a.example.com', version: 'v1', kind: 'Home', spec })
  return describeOperator(defineOperator({ name: 'homes', kinds: [kind] }))
}

describe('largeDefinitions()', () => {
  test('warns about a CRD that does not fit into the annotation of kubectl apply', () => {
    const size = JSON.stringify(operatorWith(0).resources[0]!.crd).length
    const most = 262_144 - 'kubectl.kubernetes.io/last-applied-configuration'.length - size
    // The description itself has a name and quotes.
    expect(largeDefinitions(operatorWith(most - 100))).toEqual([])
    expect(largeDefinitions(operatorWith(most + 100))).toEqual([
      {
        severity: 'warning',
        path: 'config/crd/bases/a.example.com_homes.yaml',
        message: expect.stringMatching(/exceeds the limit of 262144: use kubectl apply --server-side/),
      },
    ])
  })
})
