import type { TypeMeta } from '@kubewright/api'

interface SecretDraft extends Readonly<TypeMeta> {
  readonly data?: Readonly<Record<string, string>> | undefined
  readonly stringData?: Readonly<Record<string, string>> | undefined
}

/**
 * The draft in the form in which the server stores it. The server moves `stringData` of a Secret to `data`, but records
 * that `stringData` was applied: then drift of `data` would not be repaired, and removed keys would stay.
 */
export function storedForm<T extends Readonly<TypeMeta>>(draft: T): T {
  const { stringData, ...rest } = draft as T & SecretDraft
  if (draft.apiVersion !== 'v1' || draft.kind !== 'Secret' || stringData === undefined) return draft
  const moved = Object.entries(stringData).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const)
  return { ...rest, data: { ...rest.data, ...Object.fromEntries(moved) } } as unknown as T
}
