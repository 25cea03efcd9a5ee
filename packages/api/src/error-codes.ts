import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and their meaning. */
export const apiErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_ALREADY_OWNED: 'The object already has a controller.',
  KW_API: 'The API server rejected a request. The Status in the error has the reason.',
  KW_APPLY: 'An object does not match the schema that it is applied with. The message names the field.',
  KW_NOT_REGISTERED: 'The kind or resource is not registered in the scheme.',
  KW_OWNER_NAMESPACE:
    'The owner is in another namespace. Garbage collection does not follow references across namespaces.',
  KW_PATCH: 'A patch is malformed, or does not fit the object. The message is that of Kubernetes.',
  KW_SYNTAX: 'A text cannot be parsed: a selector, an apiVersion, a JSONPath, JSON or YAML.',
})
