import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "isQuantity('1.3Gi') && isQuantity('1000') && !isQuantity('1.3gi') && !isQuantity('')",
  "quantity('200M') == quantity('0.2G') && quantity('50k').add(20) == quantity('50020')",
  "quantity('50Mi').isGreaterThan(quantity('50M')) && quantity('50M').isLessThan(quantity('50Mi'))",
  "quantity('200M').compareTo(quantity('0.2G')) == 0 && quantity('1').compareTo(quantity('2')) == -1",
  "sign(quantity('-1')) == -1 && sign(quantity('0')) == 0",
  "quantity('50k').asInteger() == 50000 && quantity('50.703k').asApproximateFloat() == 50703.0",
  "quantity('50').isInteger() && !quantity('50m').isInteger() && !quantity('9999999999999999999').isInteger()",
  "quantity('50k').sub(quantity('20')).asInteger() == 49980 && quantity('50k').sub(-20).asInteger() == 50020",
]

const FAILS: [string, string][] = [
  [
    "quantity('10 Mo').isInteger()",
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  ["quantity('50m').asInteger() == 0", 'cannot convert value to integer'],
  ["quantity('50020') == quantity('50k').add(20)", 'no such overload'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
