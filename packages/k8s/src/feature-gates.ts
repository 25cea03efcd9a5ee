/** A feature gate of kube-apiserver. */
export interface FeatureGate {
  readonly default: boolean
  /** Whether only the default is accepted. */
  readonly isLocked: boolean
}

/** Reads gates in the notation of the generated facts: names by default and lock. */
export function parseFeatureGates(text: FeatureGateNames): ReadonlyMap<string, FeatureGate> {
  const gates = (names: string, value: boolean, isLocked: boolean): [string, FeatureGate][] =>
    names
      .split(/\s+/)
      .filter((name) => name !== '')
      .map((name) => [name, { default: value, isLocked }])
  return new Map([
    ...gates(text.on, true, false),
    ...gates(text.off, false, false),
    ...gates(text.lockedOn, true, true),
    ...gates(text.lockedOff, false, true),
  ])
}

/** The names of feature gates, separated by white space. */
export interface FeatureGateNames {
  /** On by default. */
  readonly on: string
  /** Off by default. */
  readonly off: string
  readonly lockedOn: string
  readonly lockedOff: string
}
