import { describe, expect, test } from 'vitest'
import { flowSchemaObjects, priorityLevelObjects } from '../../bootstrap/flow-control-objects.ts'
import type { MutableObject } from '../../resource/object.ts'
import { strategyHarness } from '../../testdata/strategy-harness.ts'
import { flowSchemas } from './flow-schema/flow-schema.ts'
import { priorityLevelConfigurations } from './priority-level-configuration/priority-level-configuration.ts'

const { createErrors } = strategyHarness(flowSchemas, priorityLevelConfigurations)

const objects = [...priorityLevelObjects(), ...flowSchemaObjects(0)]

function named(kind: string, name: string): MutableObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (!found) throw new Error(`No ${kind} ${name}`)
  return structuredClone(found)
}

describe('flow control objects', () => {
  test('are valid in the form that the server creates', async () => {
    expect(await Promise.all(objects.map(createErrors))).toEqual(objects.map(() => []))
  })

  test('that are mandatory reject a change of the spec', async () => {
    const level = named('PriorityLevelConfiguration', 'catch-all')
    ;(level['spec'] as { limited: { nominalConcurrencyShares: number } }).limited.nominalConcurrencyShares = 6
    expect(await createErrors(level)).toEqual([
      'spec: Invalid value: {"Type":"Limited","Limited":{"NominalConcurrencyShares":6,"LimitResponse":{"Type":"Reject",' +
        '"Queuing":null},"LendablePercent":0,"BorrowingLimitPercent":null},"Exempt":null}: ' +
        "spec of 'catch-all' must equal the fixed value",
    ])
    const schema = named('FlowSchema', 'exempt')
    ;(schema['spec'] as { rules: object[] }).rules = []
    expect(await createErrors(schema)).toEqual([
      'spec: Invalid value: {"PriorityLevelConfiguration":{"Name":"exempt"},"MatchingPrecedence":1,"DistinguisherMethod":null,' +
        '"Rules":[]}: spec of \'exempt\' must equal the fixed value',
    ])
  })
})
