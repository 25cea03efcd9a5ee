import {
  type AnyKind,
  controllerRef,
  isAlreadyExists,
  isNotFound,
  type KubeObject,
  type Owner,
  type Selector,
} from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { ControllerRevision } from '@kubewright/k8s'
import { type ClaimClients, claimDependents } from './claims.ts'
import { canonicalJson, templateHash } from './template-hash.ts'

/** The data of a revision: the owner's template, as a patch that replaces it. */
export interface RevisionData {
  readonly spec: { readonly template: object }
}

/** Parameters of {@link syncRevision}. */
export interface RevisionFacts {
  readonly owner: Owner & KubeObject
  readonly template: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>> | undefined } | undefined
  }
  readonly collisionCount: number
  /** The label that carries the hash, in addition to the name. */
  readonly hashLabel: string
  /** @default {@link templateHash} */
  readonly hash?: ((data: RevisionData, collisions: number) => string) | undefined
}

/** Whether the template's revision exists, must be renumbered or must be created. */
export interface RevisionPlan {
  readonly kind: 'keep' | 'renumber' | 'create'
  /** The revision to keep or renumber. */
  readonly revision?: ControllerRevision | undefined
  readonly number: number
}

/** Sorts revisions by number, then by age. */
function sortRevisions(revisions: readonly ControllerRevision[]): ControllerRevision[] {
  const rank = ({ metadata }: ControllerRevision): string => `${metadata.creationTimestamp} ${metadata.name}`
  return [...revisions].sort((a, b) => a.revision - b.revision || (rank(a) < rank(b) ? -1 : 1))
}

/** The revisions of an owner, sorted. Adopts those that the selector matches, and never releases any. */
export async function claimRevisions(
  clients: ClaimClients,
  ownerKind: AnyKind,
  owner: Owner & KubeObject,
  selector: Selector,
): Promise<ControllerRevision[]> {
  const request = { ownerKind, owner, kind: ControllerRevision, selector, releases: false }
  return sortRevisions(await claimDependents(clients, request))
}

/** The revision data of a template. */
function revisionData(template: object): RevisionData {
  return { spec: { template: { ...template, $patch: 'replace' } } }
}

/** The template stored in a revision. */
export function templateOf<T extends object>(revision: ControllerRevision): T {
  const data = revision.data as unknown as RevisionData | undefined
  const { $patch: _, ...template } = (data?.spec.template ?? {}) as Record<string, unknown>
  // The revision was created from a template of this type.
  return template as T
}

/** Plans how to make the template's revision the latest one. The revisions must be sorted. */
export function planRevision(revisions: readonly ControllerRevision[], template: object): RevisionPlan {
  const data = revisionData(template)
  const last = revisions.at(-1)
  const number = (last?.revision ?? 0) + 1
  const equal = revisions.filter((revision) => deepEqual(revision.data, data)).at(-1)
  if (equal === undefined) return { kind: 'create', number }
  if (equal === last) return { kind: 'keep', revision: equal, number: equal.revision }
  return { kind: 'renumber', revision: equal, number }
}

/** The revision of the template, and the updated collision count. */
export interface SyncedRevision {
  readonly revision: ControllerRevision
  readonly collisionCount: number
}

/** Carries out a plan. When other data already has the name, it counts a collision and retries with another hash. */
export async function syncRevision(
  { client, api }: ClaimClients,
  facts: RevisionFacts,
  plan: RevisionPlan,
): Promise<SyncedRevision> {
  const { collisionCount, owner } = facts
  if (plan.revision !== undefined) {
    if (plan.kind === 'keep') return { revision: plan.revision, collisionCount }
    const { namespace = '', name } = plan.revision.metadata
    const revision = await client.patch(ControllerRevision, { namespace, name }, { revision: plan.number })
    return { revision, collisionCount }
  }
  // Clients such as kubectl compare the bytes with those of Go, which sorts the members.
  const data = JSON.parse(canonicalJson(revisionData(facts.template))) as RevisionData
  for (let collisions = collisionCount; ; collisions++) {
    const hash = (facts.hash ?? templateHash)(data, collisions)
    const { namespace = '', annotations } = owner.metadata
    const name = `${owner.metadata.name.slice(0, 223)}-${hash}`
    const draft = ControllerRevision({
      metadata: {
        name,
        namespace,
        labels: { ...facts.template.metadata?.labels, [facts.hashLabel]: hash },
        annotations: { ...annotations },
        ownerReferences: [controllerRef(owner)],
      },
      data: data as unknown as NonNullable<Parameters<typeof ControllerRevision>[0]['data']>,
      revision: plan.number,
    })
    try {
      return { revision: await client.create(draft), collisionCount: collisions }
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const existing = await api.get(ControllerRevision, { namespace, name })
      if (deepEqual(existing.data, data)) return { revision: existing, collisionCount: collisions }
    }
  }
}

/** The unused revisions beyond the history limit, oldest first. The revisions must be sorted. */
export function planTruncation(
  revisions: readonly ControllerRevision[],
  live: ReadonlySet<string>,
  limit: number,
): readonly ControllerRevision[] {
  const unused = revisions.filter(({ metadata }) => !live.has(metadata.name))
  return unused.slice(0, Math.max(0, unused.length - limit))
}

/** Deletes revisions; ignores those that are already gone. */
export async function deleteRevisions(client: Client, revisions: readonly ControllerRevision[]): Promise<void> {
  for (const { metadata } of revisions) {
    try {
      await client.delete(ControllerRevision, { namespace: metadata.namespace, name: metadata.name })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
