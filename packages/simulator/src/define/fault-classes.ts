/** The turns of the classes in the search for single faults. Those that find most mistakes come more often. */
export const classTurns = [
  'crash',
  'error',
  'stale',
  'others',
  'watch',
  'pods',
  'leader',
  'crash',
  'slow',
  'stale',
  'quota',
  'leader',
  'server',
  'others',
  'volumes',
  'webhooks',
  'stale',
  'watch',
  'pods',
  'permissions',
  'leader',
  'clock',
] as const

/** A class of the built-in faults, as in the option `faults`. */
export type FaultClass = (typeof classTurns)[number]

/** The classes of the built-in faults, in the order in which they are explored. */
export const faultClasses: readonly FaultClass[] = [...new Set(classTurns)]
