/** Cases with known differences and their reasons. The test fails when a listed case passes. */
export const knownFailures: ReadonlyMap<string, string> = new Map()
