export { type Clock, every, sleepWith, type Timer, type WaitOptions } from './clock.ts'
export { deepCopy } from './deep-copy.ts'
export { deepEqual } from './deep-equal.ts'
export { deepFreeze } from './deep-freeze.ts'
export type { DeepMutable, DeepReadonly } from './deep-readonly.ts'
export { type Duration, formatDuration, millisToNanos, nanosToMillis, parseDuration, toMillis } from './duration.ts'
export { isKubewrightError, KubewrightError, type KubewrightErrorCode } from './kubewright-error.ts'
export {
  createLogger,
  type Logger,
  type LogRecord,
  type LogSink,
  type LogValues,
  type MemoryLogger,
  memoryLogger,
  nullLogger,
} from './logger.ts'
export { type Random, randomFrom } from './random.ts'
export { type Seed, seededRandom } from './seeded-random.ts'
export { systemClock } from './system-clock.ts'
export { systemRandom } from './system-random.ts'
