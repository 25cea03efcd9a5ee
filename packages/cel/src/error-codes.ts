import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, with their meanings. */
export const celErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CEL_COMPILE: 'A CEL expression does not parse or type-check, or contains a constant that cannot be evaluated.',
  KW_CEL_EVALUATION: 'The evaluation of a CEL expression failed, or exceeded its cost limit.',
})
