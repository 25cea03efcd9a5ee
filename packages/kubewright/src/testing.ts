// Test environments for operators; needs @kubewright/testing, which is not part of a production image.
export {
  isFalse,
  isTrue,
  startTestEnv,
  type TestEnv,
  type TestEnvOptions,
  type TestSnapshot,
  type UntilOptions,
} from '@kubewright/testing'
