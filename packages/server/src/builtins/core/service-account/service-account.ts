import { nameIsDNSSubdomain } from '@kubewright/base'
import type { MutableObject } from '../../../resource/object.ts'
import { nameAndAgeTable } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { tokenSubresource } from './token-request.ts'

const mountableKey = 'kubernetes.io/enforce-mountable-secrets'
const mountableText = `metadata.annotations[${mountableKey}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`

/** Reduces references to secrets to their names. */
function cleanReferences(account: MutableObject): void {
  const references = account['secrets'] as { name?: string | undefined }[] | undefined
  if (references) account['secrets'] = references.map(({ name }) => (name ? { name } : {}))
}

function marked(account: MutableObject): boolean {
  return account.metadata.annotations?.[mountableKey] !== undefined
}

/** ServiceAccounts (pkg/registry/core/serviceaccount). */
export const serviceAccounts: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'serviceaccounts',
  table: nameAndAgeTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    prepareForCreate: cleanReferences,
    prepareForUpdate: cleanReferences,
    warningsOnCreate: (account) => (marked(account) ? [mountableText] : []),
    warningsOnUpdate: (account, old) => (marked(account) && !marked(old) ? [mountableText] : []),
  },
  withServer: (server) =>
    server.access ? { subresources: { token: tokenSubresource(server, server.access.serviceAccountTokens) } } : {},
})
