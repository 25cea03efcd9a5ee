import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import { baselineChecks } from './baseline-checks.ts'
import { restrictedChecks } from './restricted-checks.ts'
import type { CheckedPod, CheckPod, SecurityCheck, Violation } from './security-check.ts'

/** The levels of the Pod Security Standards, from all to little. */
export type Level = 'privileged' | 'baseline' | 'restricted'

const levels: readonly string[] = ['privileged', 'baseline', 'restricted']
const prefix = 'pod-security.kubernetes.io/'
/** The newest version that has rules of its own. */
const newest = 35

/** A level as it was in a version; undefined is the newest. */
export interface LevelVersion {
  readonly level: Level
  readonly minor: number | undefined
}

/** What a namespace demands, by what happens to a pod that is not so. */
export interface SecurityPolicy {
  readonly enforce: LevelVersion
  readonly audit: LevelVersion
  readonly warn: LevelVersion
}

/** Reads the labels of a namespace. A level that is none counts as the strictest, but only where it is enforced. */
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
  // Who enforces is warned too, so that controllers whose pods will be refused say so.
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

/** As messages name it. */
export function levelText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === undefined ? 'latest' : `v1.${minor}`}`
}

/** Whether a level is stricter than another. */
export function isStricter(a: Level, b: Level): boolean {
  return levels.indexOf(a) > levels.indexOf(b)
}

/** How a pod breaks a level. */
export function violationsOf(pod: CheckedPod, { level, minor = newest }: LevelVersion): Violation[] {
  if (level === 'privileged') return []
  return checksOf(level, Math.min(minor, newest))
    .map((check) => check(pod))
    .filter((violation) => violation !== undefined)
}

/** The violations as a refusal lists them. */
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
