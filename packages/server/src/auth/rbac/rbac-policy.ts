import { newNotFound } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { CacheFollower, type FollowingIndex } from '../../cache/cache-follower.ts'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { StoreFeed } from '../../cache/store-feed.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import { serviceAccountUser } from '../service-account-user.ts'
import type { PolicyRule } from './policy-rule.ts'

/** The group of Role, ClusterRole and their bindings. */
export const rbacGroup = 'rbac.authorization.k8s.io'

/** The role of a binding. */
export interface RoleRef {
  readonly apiGroup?: string | undefined
  readonly kind?: string | undefined
  readonly name?: string | undefined
}

/** A subject of a binding. */
export interface Subject {
  readonly kind?: string | undefined
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly apiGroup?: string | undefined
}

interface Binding {
  readonly key: string
  readonly name: string
  /** The empty string for a ClusterRoleBinding. */
  readonly namespace: string
  readonly roleRef: RoleRef
  readonly subjects: readonly Subject[]
  /** One key for each subject; the empty key matches no user. */
  readonly subjectKeys: readonly string[]
}

/** A rule that applies to a user, with the binding that grants it. */
export interface AppliedRule {
  readonly rule: PolicyRule
  /** Describes the binding for messages. */
  readonly source: () => string
}

/** The storage prefixes of the four kinds. */
export interface RbacPrefixes {
  readonly roles: string
  readonly roleBindings: string
  readonly clusterRoles: string
  readonly clusterRoleBindings: string
}

/** The storage prefixes of the built-in resources. */
export const rbacPrefixes: RbacPrefixes = {
  roles: '/registry/roles/',
  roleBindings: '/registry/rolebindings/',
  clusterRoles: '/registry/clusterroles/',
  clusterRoleBindings: '/registry/clusterrolebindings/',
}

/**
 * Roles, and bindings indexed by subject. The index follows the watch caches lazily: each lookup first processes the changes since
 * the last one. The cost of a lookup depends on the bindings of the user only, not on the number of all bindings.
 */
export class RbacPolicy {
  readonly #feed: StoreFeed
  readonly #roles: ResourceCache
  readonly #clusterRoles: ResourceCache
  readonly #bindings: BindingIndex
  readonly #clusterBindings: BindingIndex

  private constructor(
    feed: StoreFeed,
    roles: ResourceCache,
    clusterRoles: ResourceCache,
    bindings: ResourceCache,
    clusterBindings: ResourceCache,
  ) {
    this.#feed = feed
    this.#roles = roles
    this.#clusterRoles = clusterRoles
    this.#bindings = new BindingIndex(bindings)
    this.#clusterBindings = new BindingIndex(clusterBindings)
  }

  static async open(feed: StoreFeed, prefixes: RbacPrefixes = rbacPrefixes): Promise<RbacPolicy> {
    const { roles, clusterRoles, roleBindings, clusterRoleBindings } = prefixes
    return new RbacPolicy(
      feed,
      await feed.cache(roles),
      await feed.cache(clusterRoles),
      await feed.cache(roleBindings),
      await feed.cache(clusterRoleBindings),
    )
  }

  /** Resolves when the policy includes all writes up to a revision. */
  async caughtUp(revision: number, signal?: AbortSignal): Promise<void> {
    await this.#feed.reached(revision, signal)
  }

  /**
   * Visits every rule that applies to the user: first those of ClusterRoleBindings, then those of RoleBindings in the namespace, by
   * name. Reports bindings whose role does not exist to `onError`. Ends when `visit` returns true.
   */
  visitRules(
    user: UserInfo,
    namespace: string,
    visit: (applied: AppliedRule) => boolean,
    onError: (message: string) => void,
  ): void {
    if (this.#visitBindings(this.#clusterBindings.applyingTo(user, ''), user, visit, onError)) return
    if (namespace !== '') this.#visitBindings(this.#bindings.applyingTo(user, namespace), user, visit, onError)
  }

  #visitBindings(
    bindings: readonly Binding[],
    user: UserInfo,
    visit: (applied: AppliedRule) => boolean,
    onError: (message: string) => void,
  ): boolean {
    for (const binding of bindings) {
      const rules = this.rulesOf(binding.roleRef, binding.namespace)
      if (typeof rules === 'string') {
        onError(rules)
        continue
      }
      for (const rule of rules) if (visit({ rule, source: () => describeBinding(binding, user) })) return true
    }
    return false
  }

  /** The rules of a role, or an error message when the role does not exist. */
  rulesOf(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | string {
    const name = roleRef.name ?? ''
    if (roleRef.kind === 'Role') {
      return rulesIn(this.#roles.get(`${this.#roles.prefix}${namespace}/${name}`)) ?? missing('role', name)
    }
    if (roleRef.kind === 'ClusterRole') {
      return rulesIn(this.#clusterRoles.get(`${this.#clusterRoles.prefix}${name}`)) ?? missing('clusterrole', name)
    }
    return `unsupported role reference kind: ${goQuote(roleRef.kind ?? '')}`
  }
}

function rulesIn(role: StoredObject | undefined): readonly PolicyRule[] | undefined {
  return role && ((role.object['rules'] as PolicyRule[] | null | undefined) ?? [])
}

/** The error text of a lister, which names the kind in the singular. */
function missing(resource: string, name: string): string {
  return newNotFound({ group: rbacGroup, resource }, name).message
}

/** The bindings of one kind by namespace and subject, synchronized with their cache. */
class BindingIndex implements FollowingIndex {
  readonly #follower: CacheFollower
  /** Bindings by namespace (empty for cluster-wide ones) and subject key. */
  readonly #bySubject = new Map<string, Map<string, Set<Binding>>>()
  readonly #byKey = new Map<string, Binding>()

  constructor(cache: ResourceCache) {
    this.#follower = new CacheFollower(cache, this)
  }

  /** The distinct bindings that apply to the user, ordered by name. */
  applyingTo(user: UserInfo, namespace: string): readonly Binding[] {
    this.#follower.catchUp()
    const subjects = this.#bySubject.get(namespace)
    if (!subjects) return []
    const found = new Set<Binding>(subjects.get(`User:${user.name}`))
    for (const group of user.groups) for (const binding of subjects.get(`Group:${group}`) ?? []) found.add(binding)
    return found.size <= 1 ? [...found] : [...found].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  clear(): void {
    this.#bySubject.clear()
    this.#byKey.clear()
  }

  add(stored: StoredObject): void {
    const { metadata } = stored.object
    const namespace = metadata.namespace ?? ''
    const subjects = (stored.object['subjects'] as Subject[] | null | undefined) ?? []
    const binding: Binding = {
      key: stored.key,
      name: metadata.name ?? '',
      namespace,
      roleRef: (stored.object['roleRef'] as RoleRef | undefined) ?? {},
      subjects,
      subjectKeys: subjects.map((subject) => subjectKey(subject, namespace)),
    }
    this.#byKey.set(stored.key, binding)
    let bySubject = this.#bySubject.get(namespace)
    if (!bySubject) this.#bySubject.set(namespace, (bySubject = new Map()))
    for (const key of binding.subjectKeys) {
      const known = bySubject.get(key)
      if (known) known.add(binding)
      else bySubject.set(key, new Set([binding]))
    }
  }

  drop(key: string): void {
    const binding = this.#byKey.get(key)
    if (!binding) return
    this.#byKey.delete(key)
    const bySubject = this.#bySubject.get(binding.namespace)!
    for (const subject of binding.subjectKeys) {
      const known = bySubject.get(subject)
      known?.delete(binding)
      if (known?.size === 0) bySubject.delete(subject)
    }
    if (bySubject.size === 0) this.#bySubject.delete(binding.namespace)
  }
}

/** Service accounts are keyed by their user name. A service account without a namespace belongs to the namespace of the binding. */
function subjectKey({ kind, name = '', namespace }: Subject, bindingNamespace: string): string {
  if (kind === 'User' || kind === 'Group') return `${kind}:${name}`
  const home = namespace || bindingNamespace
  return kind === 'ServiceAccount' && home !== '' ? `User:${serviceAccountUser({ namespace: home, name })}` : ''
}

/** The reason as RBAC prints it, with the first subject of the binding that matches the user. */
function describeBinding(binding: Binding, user: UserInfo): string {
  const index = binding.subjectKeys.findIndex(
    (key) =>
      key === `User:${user.name}` || (key.startsWith('Group:') && user.groups.includes(key.slice('Group:'.length))),
  )
  const subject = binding.subjects[index]
  const home = subject?.kind === 'ServiceAccount' ? `/${subject.namespace || binding.namespace}` : ''
  const kind = binding.namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding'
  const name = binding.namespace === '' ? binding.name : `${binding.name}/${binding.namespace}`
  const { roleRef } = binding
  return `${kind} ${goQuote(name)} of ${roleRef.kind} ${goQuote(roleRef.name ?? '')} to ${subject?.kind} ${goQuote(`${subject?.name}${home}`)}`
}
