import { type GroupVersion, type GroupVersionKind, type GroupVersionResource, parseResourceArg } from '@kubewright/api'
import { abortable, goQuote } from '@kubewright/base'
import type { CallOptions } from '../call-options.ts'
import type { Discovery, ServedGroup, ServedResource, ServedVersion } from './discovery.ts'
import { NoMatchError } from './no-match-error.ts'

/**
 * Maps kinds to the resources that serve them. Discovers the server on first use and again for an unknown kind, so a
 * kind that was just installed is found. Call {@link forget} when the server no longer serves a version.
 */
export class RestMapper {
  readonly #discovery: Discovery
  #groups: readonly ServedGroup[] | undefined
  #loading: Promise<readonly ServedGroup[]> | undefined

  constructor(discovery: Discovery) {
    this.#discovery = discovery
  }

  /** The resource of a kind. */
  async forKind(gvk: GroupVersionKind, options: CallOptions = {}): Promise<ServedResource> {
    const matches = (served: ServedResource): boolean => served.kind === gvk.kind
    const found = await this.#findIn(gvk, matches, options)
    if (found) return found
    throw NoMatchError.kind(gvk)
  }

  /** The served resource of that name. */
  async forResource(gvr: GroupVersionResource, options: CallOptions = {}): Promise<ServedResource> {
    const found = await this.#findIn(gvr, (served) => served.plural === gvr.resource, options)
    if (found) return found
    throw NoMatchError.resource(gvr)
  }

  /**
   * The resource that a word on the command line refers to: `pods`, `pod`, `po`, `deployments.apps`,
   * `deployments.v1.apps`. Of several matches, the first group wins, with its preferred version.
   */
  async match(word: string, options: CallOptions = {}): Promise<ServedResource> {
    const known = this.#groups
    const found = matchIn(await this.groups(options), word)
    if (found) return found
    const again = known === undefined ? undefined : matchIn(await this.#reload(options), word)
    if (again) return again
    throw new NoMatchError(`the server doesn't have a resource type ${goQuote(word)}`)
  }

  /** The resources of a category such as `all`, each in the preferred version of its group. */
  async category(name: string, options: CallOptions = {}): Promise<ServedResource[]> {
    const found = new Map<string, ServedResource>()
    for (const resource of all(await this.groups(options))) {
      const id = `${resource.group}/${resource.plural}`
      if (resource.categories.includes(name) && !found.has(id)) found.set(id, resource)
    }
    return [...found.values()]
  }

  /** All cached groups. Discovers the server when nothing is cached. */
  async groups(options: CallOptions = {}): Promise<readonly ServedGroup[]> {
    return this.#groups ?? this.#reload(options)
  }

  /** Drops the cached data of a version, because the server responded that it does not serve it. */
  forget({ group, version }: GroupVersion): void {
    this.#groups = this.#groups?.map((served) =>
      served.name === group ? { ...served, versions: served.versions.filter((v) => v.version !== version) } : served,
    )
  }

  async #findIn(
    gv: GroupVersion,
    matches: (served: ServedResource) => boolean,
    options: CallOptions,
  ): Promise<ServedResource | undefined> {
    const known = this.#groups !== undefined
    const find = (groups: readonly ServedGroup[]): ServedResource | undefined =>
      versionIn(groups, gv)?.resources.find(matches)
    const found = find(await this.groups(options))
    // Freshly discovered data needs no second request, unless this version could not be read.
    if (found || (!known && !versionIn(this.#groups ?? [], gv)?.stale)) return found
    const resources = await this.#discovery.version(gv.group, gv.version, options)
    this.#learn(gv, resources)
    return resources?.find(matches)
  }

  #learn({ group, version }: GroupVersion, resources: readonly ServedResource[] | undefined): void {
    this.forget({ group, version })
    if (resources === undefined) return
    const learnt = { version, resources, stale: false }
    const groups = this.#groups ?? []
    this.#groups = groups.some(({ name }) => name === group)
      ? groups.map((served) => (served.name === group ? { ...served, versions: [...served.versions, learnt] } : served))
      : [...groups, { name: group, versions: [learnt] }]
  }

  /** Discovers all groups. Concurrent callers share one request; each can abort its own wait. */
  #reload({ signal, ...options }: CallOptions): Promise<readonly ServedGroup[]> {
    this.#loading ??= this.#discovery
      .groups(options)
      .then((groups) => (this.#groups = groups))
      .finally(() => (this.#loading = undefined))
    return abortable(this.#loading, signal)
  }
}

function versionIn(groups: readonly ServedGroup[], { group, version }: GroupVersion): ServedVersion | undefined {
  return groups.find(({ name }) => name === group)?.versions.find((served) => served.version === version)
}

function* all(groups: readonly ServedGroup[]): Generator<ServedResource, void, undefined> {
  for (const { versions } of groups) for (const { resources } of versions) yield* resources
}

function matchIn(groups: readonly ServedGroup[], word: string): ServedResource | undefined {
  const { full, short } = parseResourceArg(word.toLowerCase())
  const resources = [...all(groups)]
  const within = (group: string): ServedResource[] =>
    // As in kubectl, a prefix of the group's name is enough.
    group === ''
      ? resources
      : resources.filter((served) => served.group === group || served.group.startsWith(`${group}.`))
  const named = (candidates: readonly ServedResource[], name: string): ServedResource | undefined =>
    candidates.find(({ plural }) => plural === name) ??
    candidates.find(({ singular }) => singular === name) ??
    candidates.find(({ shortNames }) => shortNames.includes(name))
  const inVersion =
    full &&
    named(
      within(full.group).filter(({ version }) => version === full.version),
      full.resource,
    )
  return inVersion ?? named(within(short.group), short.resource)
}
