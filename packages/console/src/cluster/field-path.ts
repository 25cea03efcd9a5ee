/** The position of a value in an object: field names and list indexes. */
export type FieldPath = readonly (string | number)[]

/** A path as a map key. Distinct paths have distinct keys. */
export const pathKey = (path: FieldPath): string => JSON.stringify(path)
