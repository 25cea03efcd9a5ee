// The whole API machinery: kinds, schemes, selectors, quantities, owner references, patches. A mirror of @kubewright/api.
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/api'
