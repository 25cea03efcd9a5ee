import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CelEnvironment } from './environment.ts'
import { type CelExpression, CostMeter } from './expression.ts'
import { kubernetesLibraries } from './libraries/kubernetes-libraries.ts'
import { declareSchema } from './schema/declared-type.ts'
import { CORPUS_FIXTURES, type Fixture } from './testdata/corpus-fixtures.ts'
import { CelPlanError } from './values/cel-error.ts'

interface Group {
  readonly name: string
  readonly valid: readonly string[]
  readonly errors: readonly (readonly [string, string])[]
}

const file = process.env['KUBEWRIGHT_CEL_CORPUS']
const base = CelEnvironment.create({ libraries: kubernetesLibraries })

function environment(fixture: Fixture, isResourceRoot: boolean): CelEnvironment {
  const self = declareSchema(fixture.schema, { isResourceRoot })!
  return base.extend({ variables: { self, oldSelf: self } })
}

/** Returns the value of the expression, or the error as rule validation reports it. */
function run(fixture: Fixture, isResourceRoot: boolean, source: string, meter: CostMeter): unknown {
  let expression: CelExpression
  try {
    expression = environment(fixture, isResourceRoot).compile(source)
  } catch (e) {
    const stage = e instanceof CelPlanError ? 'program instantiation' : 'compilation'
    return `rule compile error: ${stage} failed: ${e instanceof Error ? e.message : e}`
  }
  if (fixture.isSkipped === true) return expression.uses('oldSelf')
  try {
    return expression.evaluate({ self: fixture.self, oldSelf: fixture.oldSelf }, meter)
  } catch (e) {
    return `${e instanceof Error ? e.message : e} evaluating rule: ${source}`
  }
}

if (file === undefined) {
  describe.skip('corpus: set KUBEWRIGHT_CEL_CORPUS to a file of CEL expressions', () => {
    test('runs', () => expect(file).toBeDefined())
  })
  console.log('corpus.test.ts skipped: set KUBEWRIGHT_CEL_CORPUS to a file of CEL expressions')
} else {
  const groups = JSON.parse(readFileSync(file, 'utf8')) as readonly Group[]
  describe.each(groups)('corpus: $name', (group) => {
    const fixture = CORPUS_FIXTURES[group.name]!
    test.each(group.valid)('%s holds', (source) => {
      const meter = new CostMeter()
      expect(run(fixture, fixture.isResourceRoot ?? false, source, meter)).toBe(true)
      if (fixture.cost !== undefined) expect(meter.cost).toBe(fixture.cost)
    })
    test.each(group.errors)('%s fails', (source, part) => {
      expect(run(fixture, true, source, new CostMeter())).toContain(part)
    })
  })
}
