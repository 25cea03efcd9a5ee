// The parts that operators are made of, for those who write controllers the Kubernetes way: informers, listers, queues, runners,
// managers, servers. A mirror of the whole package, so the list of names is that package's.
// And what they take: keys and owner references, schemes and the names of kinds and resources, clocks, randomness and loggers.
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
