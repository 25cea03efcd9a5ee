export { isFalse, isTrue, type WithConditions } from './conditions.ts'
export { testingErrorCodes } from './error-codes.ts'
export { startTestEnv } from './start-test-env.ts'
export type { TestEnv, TestEnvOptions, TestSnapshot, UntilOptions } from './test-env.ts'
