// The whole client: kubeconfig, transports, discovery, watch streams. A mirror of @kubewright/client.
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/client'
