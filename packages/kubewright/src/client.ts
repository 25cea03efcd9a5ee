// The client and what it is made of: kubeconfig, transports, discovery, watch streams. A mirror of the whole package, so the list of
// names is that package's.
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/client'
