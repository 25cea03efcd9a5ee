// The parts that operators are made of, for those who write controllers the Kubernetes way: informers, listers, queues, runners,
// managers, servers. A mirror of the whole package, so the list of names is that package's.
// And the clocks, randomness and loggers that they take.
export {
  type Clock,
  nullLogger,
  type Random,
  seededRandom,
  systemClock,
  systemRandom,
  VirtualClock,
} from '@kubewright/base'
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/runtime'
