import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, with their explanations. */
export const testingErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_TEST_CLUSTER: 'The cluster of KUBEWRIGHT_TEST_CLUSTER cannot be used for tests; the message names the problem.',
  KW_TEST_HOT_LOOP:
    'In virtual time a controller sent the same request thousands of times without time passing; the message names it.',
  KW_TEST_MISSING_RIGHT:
    'The operator sent a request that its derived roles do not allow and that a cluster would reject; the message contains the missing rule.',
  KW_TEST_NOT_SETTLED:
    'Controllers still had work, or objects kept changing, when the timeout expired; the message names the keys.',
  KW_TEST_ON_CLUSTER: 'The test uses a feature that a real cluster does not have, such as virtual time. Skip it there.',
  KW_TEST_OPERATOR_ENDED:
    'The operator under test stopped with an error, so the wait cannot succeed; the message gives the reason.',
  KW_TEST_REAL_TIME: 'A test called advance() in an environment that runs in real time.',
  KW_TEST_TIMEOUT:
    'The expected state was not reached before the timeout; the message shows the object, its events and its last reconciles.',
})
