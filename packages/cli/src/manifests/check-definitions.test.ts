import { defineResource } from '@kubewright/api'
import { defineOperator } from '@kubewright/runtime'
import { type Schema, s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { checkDefinitions } from './check-definitions.ts'
import { describeOperator } from './operator-description.ts'

const operatorWith = (text: Schema<string>) => {
  const kind = defineResource({ group: 'a.example.com', version: 'v1', kind: 'Home', spec: s.object({ text }) })
  return describeOperator(defineOperator({ name: 'homes', controllers: [], kinds: [kind] }))
}

describe('checkDefinitions()', () => {
  test('throws with the place and the problem of an invalid rule', () => {
    expect(() => checkDefinitions(operatorWith(s.string().rule('self.size() < ten', 'is too long')))).toThrow(
      /^API servers would reject these CRDs:\n {2}Home v1: openAPIV3Schema\.properties\[spec\]\.properties\[text\]\.x-kubernetes-validations\[0\]\.rule: .*undeclared reference to 'ten'/,
    )
  })

  test('accepts valid CRDs', () => {
    expect(() => checkDefinitions(operatorWith(s.string().rule('self.size() < 10', 'is too long')))).not.toThrow()
  })
})
