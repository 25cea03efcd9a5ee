import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import { baselineChecks } from './baseline-checks.ts'
import { restrictedChecks } from './restricted-checks.ts'
import type { CheckedPod, CheckPod, SecurityCheck, Violation } from './security-check.ts'

/** The levels of the Pod Security Standards, from least to most restrictive. */
export type Level = 'privileged' | 'baseline' | 'restricted'

const levels: readonly string[] = ['privileged', 'baseline', 'restricted']
const prefix = 'pod-security.kubernetes.io/'
/** The newest version with rules of its own. */
const newest = 35

/** A level at a minor version; undefined is the newest version. */
export interface LevelVersion {
  readonly level: Level
  readonly minor: number | undefined
}

/** The levels of a namespace by mode. */
export interface SecurityPolicy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

/** Parses the labels of a namespace. An invalid enforce level counts as restricted; other invalid levels count as privileged. */
export function policyOf(labels: Readonly<Record<string, string>> = {}): {
  policy: SecurityPolicy
  errors: FieldError[]
} {
  const errors: FieldError[] = []
  const path = (label: string): FieldPath => FieldPath.of('metadata', 'labels').key(label)
  const read = (mode: string, onError: Level): LevelVersion => {
    const level = labels[prefix + mode]
    const version = labels[`${prefix}${mode}-version`]
    const known = level === undefined || levels.includes(level)
    if (!known) errors.push(invalid(path(prefix + mode), level, `must be one of ${levels.join(', ')}`))
    const match = version === undefined ? null : /^v1\.([0-9]|[1-9][0-9]*)$/.exec(version)
    if (version !== undefined && version !== 'latest' && !match) {
      errors.push(invalid(path(`${prefix}${mode}-version`), version, 'must be "latest" or "v1.x"'))
    }
    return {
      level: known ? ((level ?? 'privileged') as Level) : onError,
      minor: match ? Number(match[1]) : undefined,
    }
  }
  const enforce = read('enforce', 'restricted')
  const audit = read('audit', 'privileged')
  let warn = read('warn', 'privileged')
  const given = labels[`${prefix}enforce`]
  // The enforce level is also the default warn level, so that the owners of controllers learn that their pods will be rejected.
  if (
    labels[`${prefix}warn`] === undefined &&
    given !== undefined &&
    levels.includes(given) &&
    given !== 'privileged'
  ) {
    warn = { level: enforce.level, minor: labels[`${prefix}warn-version`] === undefined ? enforce.minor : warn.minor }
  }
  return { policy: { enforce, audit, warn }, errors }
}

/** A level and its version in messages. */
export function levelText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === undefined ? 'latest' : `v1.${minor}`}`
}

/** Whether level `a` is stricter than level `b`. */
export function isStricter(a: Level, b: Level): boolean {
  return levels.indexOf(a) > levels.indexOf(b)
}

/** The violations of a level. */
export function violationsOf(pod: CheckedPod, { level, minor = newest }: LevelVersion): Violation[] {
  if (level === 'privileged') return []
  return checksOf(level, Math.min(minor, newest))
    .map((check) => check(pod))
    .filter((violation) => violation !== undefined)
}

/** The violations as an error message lists them. */
export function detailText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`)).join(', ')
}

const known = new Map<string, readonly CheckPod[]>()

function checksOf(level: Level, minor: number): readonly CheckPod[] {
  const key = `${level}/${minor}`
  let found = known.get(key)
  if (!found) {
    const inForce = (check: SecurityCheck): CheckPod | undefined =>
      check.versions.findLast(([since]) => since <= minor)?.[1]
    const more = level === 'restricted' ? restrictedChecks.filter(inForce) : []
    const replaced = new Set(more.map(({ replaces }) => replaces))
    const all = [...baselineChecks.filter(({ id }) => !replaced.has(id)), ...more]
    found = all.map(inForce).filter((check) => check !== undefined)
    known.set(key, found)
  }
  return found
}
