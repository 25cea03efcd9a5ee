import { isAlreadyExists } from '@kubewright/api'
import { deepEqual, KubewrightError } from '@kubewright/base'
import { compactRules, type PolicyRule } from '../auth/rbac/policy-rule.ts'
import { rbacGroup } from '../auth/rbac/rbac-policy.ts'
import { uncoveredRules } from '../auth/rbac/rule-coverage.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'
import { bootstrapBindings, bootstrapRoles } from './generated/bootstrap-rbac.ts'
import { releaseLoaders } from './generated/release-loaders.ts'
import { seedObjects } from './seed-objects.ts'

/** A role in short form. */
export interface BootstrapRole {
  readonly name: string
  readonly namespace?: string | undefined
  /** Names of the aggregated roles that this role is part of. */
  readonly aggregateTo?: readonly string[] | undefined
  /** Names of the aggregation labels that this aggregated role selects. */
  readonly aggregateFrom?: readonly string[] | undefined
  /** `verbs groups resources [names]` or `verbs paths`. Lists are separated by commas; `core` stands for the core group. */
  readonly rules?: readonly string[] | undefined
}

/** A binding in short form. */
export interface BootstrapBinding {
  readonly name: string
  readonly namespace?: string | undefined
  /** Kind and name. */
  readonly role: string
  /** `Kind [namespace] name`; only service accounts have a namespace. */
  readonly subjects: readonly string[]
}

/** The roles and bindings of a release; a name stands for the same one as in the default release. */
export interface BootstrapChanges {
  readonly roles: readonly (string | BootstrapRole)[]
  readonly bindings: readonly (string | BootstrapBinding)[]
}

/** Returns the roles and bindings that a server of a minor release creates. */
export async function policyOf(version: string): Promise<{
  readonly roles: readonly BootstrapRole[]
  readonly bindings: readonly BootstrapBinding[]
}> {
  const changes = (await releaseLoaders[version]?.())?.changes
  if (!changes) return { roles: bootstrapRoles, bindings: bootstrapBindings }
  return { roles: named(changes.roles, bootstrapRoles), bindings: named(changes.bindings, bootstrapBindings) }
}

function named<T extends { readonly name: string; readonly namespace?: string | undefined }>(
  all: readonly (string | T)[],
  known: readonly T[],
): readonly T[] {
  const byName = new Map(
    known.map((one) => [one.namespace === undefined ? one.name : `${one.namespace}/${one.name}`, one]),
  )
  return all.map((one) => (typeof one === 'string' ? byName.get(one)! : one))
}

const apiVersion = `${rbacGroup}/v1`
const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate'
const aggregateLabel = (name: string): string => `${rbacGroup}/aggregate-to-${name}`

/** The parts of the server that {@link ensureBootstrapPolicy} uses. */
export interface BootstrapPolicyParts extends ObjectAccess {
  readonly writer: SystemWriter
}

/**
 * Creates the roles and bindings of every Kubernetes cluster. Adds missing rules and subjects to existing ones and never removes
 * any, unless their autoupdate annotation is "false". All writes run concurrently, so that a durable store commits them together.
 */
export async function ensureBootstrapPolicy(parts: BootstrapPolicyParts): Promise<void> {
  const resourceOf = (plural: string): Resource => {
    const resource = parts.resources.find(rbacGroup, 'v1', plural)
    if (!resource)
      throw new KubewrightError('KW_SERVER_CONFIG', `Cannot create the bootstrap RBAC policy: ${plural} are not served`)
    return resource
  }
  const [roles, clusterRoles] = [resourceOf('roles'), resourceOf('clusterroles')]
  const [bindings, clusterBindings] = [resourceOf('rolebindings'), resourceOf('clusterrolebindings')]
  const policy = await policyOf(parts.resources.release.facts.version)
  await Promise.all([
    ...byNamespace(policy.roles).map(([namespace, all]) =>
      ensureAll(parts, namespace === '' ? clusterRoles : roles, namespace, all, roleObject, completeRole),
    ),
    ...byNamespace(policy.bindings).map(([namespace, all]) =>
      ensureAll(parts, namespace === '' ? clusterBindings : bindings, namespace, all, bindingObject, completeBinding),
    ),
  ])
}

function byNamespace<T extends { readonly namespace?: string | undefined }>(
  all: readonly T[],
): [namespace: string, T[]][] {
  const groups = new Map<string, T[]>()
  for (const one of all) {
    const { namespace = '' } = one
    const group = groups.get(namespace)
    if (group) group.push(one)
    else groups.set(namespace, [one])
  }
  return [...groups]
}

/** Creates or completes objects of one namespace, those of a new cluster from the image. */
async function ensureAll<T extends { readonly name: string }>(
  parts: BootstrapPolicyParts,
  resource: Resource,
  namespace: string,
  all: readonly T[],
  objectOf: (short: T) => MutableObject,
  complete: (object: MutableObject, wanted: MutableObject) => boolean,
): Promise<void> {
  const names = all.map(({ name }) => name)
  const seeded = await seedObjects(parts.registry, resource, names, namespace)
  const others = all.filter(({ name }) => !seeded.has(name))
  await Promise.all(others.map((short) => ensure(parts, resource, objectOf(short), complete)))
}

async function ensure(
  { registry, writer }: BootstrapPolicyParts,
  resource: Resource,
  wanted: MutableObject,
  complete: (object: MutableObject, wanted: MutableObject) => boolean,
): Promise<void> {
  const { name = '', namespace = '' } = wanted.metadata
  const target = { resource, namespace, name }
  const create = async (): Promise<void> => {
    try {
      await writer.create(resource, wanted)
    } catch (error) {
      // Another server on the same store created it first.
      if (!isAlreadyExists(error)) throw error
    }
  }
  const existing = await registry.findUnchecked(resource, namespace, name)
  if (!existing) return create()
  // An object that cannot be read stays as it is. Once an administrator has deleted it, the next start creates it again.
  if (existing.problem !== undefined) return
  if (existing.object.metadata.annotations?.[autoUpdate] === 'false') return
  if (wanted['roleRef'] && !deepEqual(existing.object['roleRef'], wanted['roleRef'])) {
    // The role of a binding is immutable.
    await writer.delete(target)
    return create()
  }
  if (complete(existing.copy(), wanted)) await writer.update(target, (next) => void complete(next, wanted))
}

/** Adds missing rules, labels and annotations; returns whether there were any. */
function completeRole(role: MutableObject, wanted: MutableObject): boolean {
  const metadata = completeMetadata(role, wanted)
  const rules = (role['rules'] as PolicyRule[] | null) ?? []
  const expected = (wanted['rules'] as PolicyRule[] | null) ?? []
  // The common case, and much cheaper than comparing what the rules cover.
  const missing = deepEqual(rules, expected) ? [] : uncoveredRules(rules, expected).rules
  if (missing.length > 0) role['rules'] = [...rules, ...compactRules(missing)]
  const aggregation = !role['aggregationRule'] && wanted['aggregationRule'] !== undefined
  if (aggregation) role['aggregationRule'] = wanted['aggregationRule']
  return metadata || missing.length > 0 || aggregation
}

function completeBinding(binding: MutableObject, wanted: MutableObject): boolean {
  const metadata = completeMetadata(binding, wanted)
  const subjects = (binding['subjects'] as unknown[] | undefined) ?? []
  const missing = ((wanted['subjects'] as unknown[] | undefined) ?? []).filter(
    (subject) => !subjects.some((known) => deepEqual(known, subject)),
  )
  if (missing.length > 0) binding['subjects'] = [...subjects, ...missing]
  return metadata || missing.length > 0
}

function completeMetadata(object: MutableObject, wanted: MutableObject): boolean {
  let changed = false
  for (const field of ['labels', 'annotations'] as const) {
    const known = (object.metadata[field] ??= {})
    for (const [key, value] of Object.entries(wanted.metadata[field] ?? {})) {
      if (Object.hasOwn(known, key)) continue
      known[key] = value
      changed = true
    }
  }
  return changed
}

function metadataOf(
  name: string,
  namespace: string | undefined,
  aggregateTo: readonly string[] = [],
): MutableObject['metadata'] {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: {
      'kubernetes.io/bootstrapping': 'rbac-defaults',
      ...Object.fromEntries(aggregateTo.map((target) => [aggregateLabel(target), 'true'])),
    },
    annotations: { [autoUpdate]: 'true' },
  }
}

function roleObject({ name, namespace, aggregateTo, aggregateFrom, rules }: BootstrapRole): MutableObject {
  const selectors = (aggregateFrom ?? []).map((target) => ({ matchLabels: { [aggregateLabel(target)]: 'true' } }))
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: metadataOf(name, namespace, aggregateTo),
    ...(selectors.length > 0 ? { aggregationRule: { clusterRoleSelectors: selectors } } : {}),
    rules: rules ? rules.map(parseRule) : null,
  }
}

function parseRule(text: string): PolicyRule {
  const [verbs = [], second = [], resources, resourceNames] = text.split(' ').map((list) => list.split(','))
  if (!resources) return { verbs, nonResourceURLs: second }
  const apiGroups = second.map((group) => (group === 'core' ? '' : group))
  return { verbs, apiGroups, resources, ...(resourceNames ? { resourceNames } : {}) }
}

function bindingObject({ name, namespace, role, subjects }: BootstrapBinding): MutableObject {
  const [kind = '', roleName = ''] = role.split(' ')
  const listed = subjects.map((text) => {
    const parts = text.split(' ')
    return parts[0] === 'ServiceAccount'
      ? { kind: parts[0], name: parts[2]!, namespace: parts[1]! }
      : { kind: parts[0]!, apiGroup: rbacGroup, name: parts[1]! }
  })
  return {
    apiVersion,
    kind: namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding',
    metadata: metadataOf(name, namespace),
    // The owner of an empty list would be recorded.
    ...(listed.length > 0 ? { subjects: listed } : {}),
    roleRef: { apiGroup: rbacGroup, kind, name: roleName },
  }
}
