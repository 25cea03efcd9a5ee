export { isFalse, isTrue, type WithConditions } from './conditions.ts'
export { testingErrorCodes } from './error-codes.ts'
export type { Crash, CrashOptions, Fault, FaultOptions, RequestSender } from './faults.ts'
export { History } from './history.ts'
export type { RequestMatch, RequestVerb } from './request-facts.ts'
export { startTestEnv } from './start-test-env.ts'
export type { StatusOf, StepResult } from './step.ts'
export {
  type ReviewMembers,
  review,
  type TestContext,
  type TestEvent,
  testContext,
  testObject,
} from './test-context.ts'
export type {
  ConsistentlyOptions,
  EventuallyOptions,
  InterceptTransport,
  TestEnv,
  TestEnvOptions,
  TestSnapshot,
  UntilOptions,
} from './test-env.ts'
export type { TestLogFormat } from './test-log.ts'
