// The schemas of the built-in types, to embed in custom resources with `s.from`.
export { type SchemaName, type SchemaTypes, schemaNames, schemaOf, type TypedSchema } from '@kubewright/k8s/schemas'
