import type { Container, PodSpec } from '../builtins/core/pod/pod-types.ts'

/** The secrets that a service account allows. */
export interface SecretOwner {
  readonly metadata: { readonly name?: string | undefined }
  readonly secrets?: readonly { readonly name?: string | undefined }[] | undefined
  readonly imagePullSecrets?: readonly { readonly name?: string | undefined }[] | undefined
}

/** Describes the first secret reference of a pod that its service account does not allow; undefined when all are allowed. */
export function secretReferenceProblem(spec: PodSpec, owner: SecretOwner, ephemeralOnly: boolean): string | undefined {
  const known = new Set((owner.secrets ?? []).map(({ name }) => name))
  const account = owner.metadata.name ?? ''
  const refused = (what: string, secret: string | undefined): string | undefined =>
    known.has(secret)
      ? undefined
      : `${what}secret.secretName="${secret ?? ''}" is not allowed because service account ${account} does not reference that secret`
  if (ephemeralOnly) {
    return first((spec.ephemeralContainers ?? []) as Container[], (container) =>
      containerProblem(container, 'ephemeral container', refused),
    )
  }
  return (
    first(spec.volumes ?? [], ({ secret }) => (secret ? refused('volume with ', secret.secretName) : undefined)) ??
    first(spec.initContainers ?? [], (container) => containerProblem(container, 'init container', refused)) ??
    first(spec.containers ?? [], (container) => containerProblem(container, 'container', refused)) ??
    pullProblem(spec, owner)
  )
}

function containerProblem(
  container: Container,
  what: string,
  refused: (what: string, secret: string | undefined) => string | undefined,
): string | undefined {
  const subject = `${what} ${container.name} with`
  return (
    first(container.env ?? [], ({ name, valueFrom }) => {
      const reference = valueFrom?.secretKeyRef
      return reference ? refused(`${subject} envVar ${name} referencing `, reference.name) : undefined
    }) ??
    first(container.envFrom ?? [], ({ secretRef }) =>
      secretRef ? refused(`${subject} envFrom referencing `, secretRef.name) : undefined,
    )
  )
}

function pullProblem(spec: PodSpec, owner: SecretOwner): string | undefined {
  const known = new Set((owner.imagePullSecrets ?? []).map(({ name }) => name))
  const at = (spec.imagePullSecrets ?? []).findIndex(({ name }) => !known.has(name))
  if (at < 0) return undefined
  const name = spec.imagePullSecrets![at]!.name ?? ''
  return `imagePullSecrets[${at}].name="${name}" is not allowed because service account ${owner.metadata.name ?? ''} does not reference that imagePullSecret`
}

function first<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const problem = check(item)
    if (problem !== undefined) return problem
  }
  return undefined
}
