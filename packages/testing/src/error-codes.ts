import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and what each means. */
export const testingErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_TEST_MISSING_RIGHT:
    'The operator did something that the roles which are derived from it do not allow: it would be refused in a cluster; the message has the rule that is missing.',
  KW_TEST_NOT_SETTLED:
    'Controllers still had work to do, or objects kept changing, when the time to wait was over; the message names the keys.',
  KW_TEST_OPERATOR_ENDED:
    'What a test waited for cannot happen any more: its operator failed for good; the message says why.',
  KW_TEST_REAL_TIME: 'A test wanted to advance the time of an environment that runs in real time.',
  KW_TEST_TIMEOUT:
    'What a test waited for did not happen; the message shows the object, its events and its last reconciles.',
})
