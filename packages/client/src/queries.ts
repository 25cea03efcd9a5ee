// The values that describe reads, in an entry point of their own: a program that only defines an operator does not load the client.
export { allNamespaces } from './call-options.ts'
export { type IndexQuery, index, type ObjectIndex } from './object-index.ts'
