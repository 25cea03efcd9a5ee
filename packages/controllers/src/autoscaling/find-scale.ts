import { gvkOf, isNotFound } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Scale } from '@kubewright/k8s'

/** A reference to an object that may have a scale subresource. */
export interface ScaleReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

/**
 * Reads the scale subresource of the referenced object, built-in or custom. Resolves to undefined when the object does
 * not exist. Throws when the kind is not served, or has no scale subresource.
 */
export async function findScale(
  api: ApiClient,
  reference: ScaleReference,
  namespace: string,
  signal: AbortSignal,
): Promise<Scale | undefined> {
  const { name } = reference
  const served = await api.kind(gvkOf(reference), { signal })
  try {
    return (await api.subresource(served, 'scale').get({ name, namespace }, { signal })) as Scale
  } catch (error) {
    if (!isNotFound(error)) throw error
    const there = await api.find(served, { name, namespace }, { signal })
    if (there === undefined) return undefined
    const resource = served.group === '' ? served.plural : `${served.plural}.${served.group}`
    throw new CaughtError(`${resource} does not implement the scale subresource`)
  }
}
