// The whole runtime: informers, listers, queues, controller runners, managers, servers. A mirror of @kubewright/runtime, together with the
// values that its functions take: keys, owner references, schemes, clocks, randomness and loggers.
export {
  controllerOf,
  controllerRef,
  type GroupVersionKind,
  type GroupVersionResource,
  isControlledBy,
  keyOf,
  NotRegisteredError,
  parseGroupVersion,
  parseKey,
  Scheme,
} from '@kubewright/api'
export {
  type Clock,
  createLogger,
  memoryLogger,
  nullLogger,
  type Random,
  seededRandom,
  systemClock,
  systemRandom,
  VirtualClock,
} from '@kubewright/base'
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/runtime'
