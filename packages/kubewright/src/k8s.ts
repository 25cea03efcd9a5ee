// The built-in kinds. A mirror of @kubewright/k8s.
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/k8s'
