// The parts that operators are made of, for those who write controllers the Kubernetes way: informers, listers, queues, runners,
// managers, servers. A mirror of the whole package, so the list of names is that package's.
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/runtime'
