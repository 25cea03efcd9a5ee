import { type GroupVersion, type GroupVersionKind, type GroupVersionResource, parseResourceArg } from '@kubewright/api'
import { abortable, goQuote } from '@kubewright/base'
import type { CallOptions } from '../call-options.ts'
import type { Discovery, ServedGroup, ServedResource, ServedVersion } from './discovery.ts'
import { NoMatchError } from './no-match-error.ts'

/**
 * Knows which resource serves a kind. It asks the server when it is first used, and again for what it does not know: a kind that was
 * installed a moment ago is found. What a server no longer serves is forgotten when {@link forget} says so.
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
    const isIt = (served: ServedResource): boolean => served.kind === gvk.kind
    const found = await this.#findIn(gvk, isIt, options)
    if (found) return found
    throw NoMatchError.kind(gvk)
  }

  /** What is known of a resource. */
  async forResource(gvr: GroupVersionResource, options: CallOptions = {}): Promise<ServedResource> {
    const found = await this.#findIn(gvr, (served) => served.plural === gvr.resource, options)
    if (found) return found
    throw NoMatchError.resource(gvr)
  }

  /**
   * The resource that a word means on the command line: `pods`, `pod`, `po`, `deployments.apps`, `deployments.v1.apps`. Of several
   * that match, the one of the first group counts, in the version that its group prefers.
   */
  async match(word: string, options: CallOptions = {}): Promise<ServedResource> {
    const known = this.#groups
    const found = matchIn(await this.groups(options), word)
    if (found) return found
    const again = known === undefined ? undefined : matchIn(await this.#reload(options), word)
    if (again) return again
    throw new NoMatchError(`the server doesn't have a resource type ${goQuote(word)}`)
  }

  /** The resources of a category such as `all`, each in the version that its group prefers. */
  async category(name: string, options: CallOptions = {}): Promise<ServedResource[]> {
    const found = new Map<string, ServedResource>()
    for (const resource of all(await this.groups(options))) {
      const id = `${resource.group}/${resource.plural}`
      if (resource.categories.includes(name) && !found.has(id)) found.set(id, resource)
    }
    return [...found.values()]
  }

  /** Everything that is known, asking the server if nothing is. */
  async groups(options: CallOptions = {}): Promise<readonly ServedGroup[]> {
    return this.#groups ?? this.#reload(options)
  }

  /** Drops what is known of a version, because the server answered that it has no such thing. */
  forget({ group, version }: GroupVersion): void {
    this.#groups = this.#groups?.map((served) =>
      served.name === group ? { ...served, versions: served.versions.filter((v) => v.version !== version) } : served,
    )
  }

  async #findIn(
    gv: GroupVersion,
    isIt: (served: ServedResource) => boolean,
    options: CallOptions,
  ): Promise<ServedResource | undefined> {
    const known = this.#groups !== undefined
    const find = (groups: readonly ServedGroup[]): ServedResource | undefined =>
      versionIn(groups, gv)?.resources.find(isIt)
    const found = find(await this.groups(options))
    // What was read just now needs no second look, unless the part in question could not be read.
    if (found || (!known && !versionIn(this.#groups ?? [], gv)?.stale)) return found
    const resources = await this.#discovery.version(gv.group, gv.version, options)
    this.#learn(gv, resources)
    return resources?.find(isIt)
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

  /** One request at a time for all who wait; each of them can leave. */
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
    // A part of a group's name is enough, as for kubectl.
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
