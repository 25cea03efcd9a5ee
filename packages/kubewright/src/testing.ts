// Test environments for operators. Needs @kubewright/testing, which production images do not contain.
export {
  History,
  type InterceptTransport,
  isFalse,
  isTrue,
  startTestEnv,
  type TestEnv,
  type TestEnvOptions,
  type TestSnapshot,
  type UntilOptions,
} from '@kubewright/testing'
