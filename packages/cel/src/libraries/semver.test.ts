import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "isSemver('1.2.3-beta.1+build.1') && !isSemver('v1.0') && isSemver('v1.0', true) && !isSemver('01.2.3')",
  "semver('v01.1', true) == semver('1.1.0') && semver('1.2.3+a') == semver('1.2.3+b')",
  "semver('1.2.3').major() == 1 && semver('1.2.3').minor() == 2 && semver('1.2.3').patch() == 3",
  "semver('1.2.3').isLessThan(semver('1.10.0')) && semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))",
  "semver('1.0.0-alpha.1').compareTo(semver('1.0.0-alpha.beta')) == -1",
  "semver('1.0.0-alpha').compareTo(semver('1.0.0-alpha.1')) == -1 && semver('1.0.0').compareTo(semver('1.0.0')) == 0",
]

const FAILS: [string, string][] = [
  ["semver('1.2').major() == 1", 'No Major.Minor.Patch elements found'],
  ["semver('').major() == 1", 'Version string empty'],
  ["semver('a.2.3').major() == 1", 'Invalid character(s) found in major number "a"'],
  ["semver('1.02.3').major() == 1", 'Minor number must not contain leading zeroes "02"'],
  ["semver('1.2.3-01').major() == 1", 'Numeric PreRelease version must not contain leading zeroes "01"'],
  ["semver('1.2-a', true).major() == 1", 'short version cannot contain PreRelease/Build meta data'],
  ["semver('1..3').major() == 1", 'strconv.ParseUint: parsing "": invalid syntax'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
