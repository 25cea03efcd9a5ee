// The built-in kinds, under the façade's name. A mirror of the whole package, so the list of names is that package's.
// eslint-disable-next-line no-restricted-syntax
export * from '@kubewright/k8s'
