// Semantic versions (apiserver/pkg/cel/library/semverlib.go, version 1).

import { exactly } from '../define/cost-estimate.ts'
import { type CelFunction, type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { BOOL, type CelType, INT, STRING, structType } from '../values/cel-type.ts'
import { CelOpaque, type CelValue, intOf } from '../values/values.ts'
import { NOMINAL_COST, traversalOfFirst } from './cost-rules.ts'
import { compareSemver, parseSemver, parseSemverNormalized, type SemverVersion } from './semver-version.ts'

/** The result type of semver(). */
export const SEMVER_TYPE: CelType = structType('kubernetes.Semver')

/** A semantic version as a CEL value. */
export class CelSemver extends CelOpaque {
  readonly type: CelType = SEMVER_TYPE
  readonly version: SemverVersion

  constructor(version: SemverVersion) {
    super()
    this.version = version
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelSemver)) throw noSuchOverload()
    return compareSemver(this.version, other.version) === 0
  }
}

/** The version functions: semver, isSemver, comparisons, major, minor, patch. */
export const semverLibrary: CelLibrary = defineLibrary('kubernetes.Semver', () => ({
  types: [{ type: SEMVER_TYPE, identifier: false, equalityCost: () => exactly(1) }],
  functions: [
    {
      name: 'semver',
      cost: traversalOfFirst(),
      overloads: [
        { id: 'string_to_semver', args: [STRING], result: SEMVER_TYPE, evaluate: (text: string) => parse(text, false) },
        { id: 'string_bool_to_semver', args: [STRING, BOOL], result: SEMVER_TYPE, evaluate: parse },
      ],
    },
    {
      name: 'isSemver',
      cost: traversalOfFirst(),
      overloads: [
        { id: 'is_semver_string', args: [STRING], result: BOOL, evaluate: (text: string) => isSemver(text, false) },
        { id: 'is_semver_string_bool', args: [STRING, BOOL], result: BOOL, evaluate: isSemver },
      ],
    },
    comparison('isGreaterThan', 'semver_is_greater_than', BOOL, (order) => order > 0),
    comparison('isLessThan', 'semver_is_less_than', BOOL, (order) => order < 0),
    comparison('compareTo', 'semver_compare_to', INT, (order) => order),
    part('major', 'semver_major'),
    part('minor', 'semver_minor'),
    part('patch', 'semver_patch'),
  ],
}))

function comparison(name: string, id: string, result: CelType, judge: (order: number) => CelValue): CelFunction {
  const evaluate = (a: CelSemver, b: CelSemver): CelValue => judge(compareSemver(a.version, b.version))
  const args = [SEMVER_TYPE, SEMVER_TYPE]
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args, result, evaluate }] }
}

function part(name: 'major' | 'minor' | 'patch', id: string): CelFunction {
  // As with Go's conversion, numbers beyond int64 wrap around.
  const evaluate = (semver: CelSemver): CelValue => intOf(BigInt.asIntN(64, semver.version[name]))
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args: [SEMVER_TYPE], result: INT, evaluate }] }
}

function parse(text: string, normalize: boolean): CelSemver {
  try {
    return new CelSemver(normalize ? parseSemverNormalized(text) : parseSemver(text))
  } catch (error) {
    throw new CelError((error as Error).message)
  }
}

function isSemver(text: string, normalize: boolean): boolean {
  try {
    parse(text, normalize)
    return true
  } catch {
    return false
  }
}
