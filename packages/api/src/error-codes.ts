import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and what each means. */
export const apiErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_ALREADY_OWNED: 'An object was to get a second controller.',
  KW_API: 'The API server refused a request; the Status that it answered says why.',
  KW_NOT_REGISTERED: 'A kind or resource was looked up that the scheme does not know.',
  KW_OWNER_NAMESPACE: 'An owner reference was to leave the namespace, which the garbage collector would not follow.',
  KW_SYNTAX: 'A text is not what it should be: a selector, an apiVersion, a JSONPath, JSON or YAML.',
})
