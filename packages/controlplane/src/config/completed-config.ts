import { type Clock, type Logger, nullLogger, type Random, systemClock, systemRandom } from '@kubewright/base'
import type { PlaneConfig } from './plane-config.ts'

/** A {@link PlaneConfig} with the defaults that all parts of a control plane need. */
export interface CompletedConfig extends PlaneConfig {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** Sets the defaults of time, random numbers and logs. */
export function completed({
  clock = systemClock,
  random = systemRandom,
  log = nullLogger,
  ...config
}: PlaneConfig): CompletedConfig {
  return { ...config, clock, random, log }
}
