/** A behaviour that not all releases have. */
export interface ReleaseRule {
  /** What the server does, in one sentence, for the list of differences between releases. */
  readonly summary: string
  /** The first release with the behaviour. @default all earlier ones */
  readonly since?: string | undefined
  /** The first release without it. @default all later ones */
  readonly until?: string | undefined
}

const rules = new WeakSet<object>()

/** Defines a behaviour beside the code that has it. `npm run releases` lists all rules. */
export function releaseRule(rule: ReleaseRule): ReleaseRule {
  rules.add(rule)
  return rule
}

/** Whether a value was made by {@link releaseRule}. */
export function isReleaseRule(value: unknown): value is ReleaseRule {
  return typeof value === 'object' && value !== null && rules.has(value)
}

/** Whether a release, such as `1.36`, has a behaviour. */
export function hasRule(version: string, { since, until }: ReleaseRule): boolean {
  const minor = minorOf(version)
  return (since === undefined || minor >= minorOf(since)) && (until === undefined || minor < minorOf(until))
}

function minorOf(version: string): number {
  return Number(version.slice(version.indexOf('.') + 1))
}
