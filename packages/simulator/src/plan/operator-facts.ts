import type { AnyKind } from '@kubewright/api'
import { accessOf, type Operator, type PolicyRule } from '@kubewright/runtime'

/** What the definition of an operator says about its work. */
export class OperatorFacts {
  /** An instance for facts that do not depend on the process. */
  readonly definition: Operator
  readonly watchedKinds: ReadonlySet<string>
  /** The kinds whose status the operator writes. */
  readonly reportedKinds: ReadonlySet<string>
  /** The kinds of objects of other owners whose changes the operator follows. */
  readonly followed: readonly AnyKind[]
  /** The plurals of the resources that the operator watches. */
  readonly watchedResources: readonly string[]
  readonly onlyLeaderWrites: boolean
  readonly hasWebhooks: boolean
  /** The plurals of the resources that the operator may change. */
  readonly changeable: ReadonlySet<string>
  readonly mayChangeClaims: boolean

  constructor(operator: Operator) {
    this.definition = operator
    const watched = watchedBy(operator)
    const followedKinds = new Set(operator.controllers.flatMap(followedBy))
    this.watchedKinds = new Set(watched.map(({ kind }) => kind))
    const controlled = operator.controllers.flatMap(({ kind }) => kind ?? [])
    this.reportedKinds = new Set([...operator.kinds, ...controlled].map(({ kind }) => kind))
    this.followed = watched.filter(({ kind }) => followedKinds.has(kind))
    this.watchedResources = [...new Set(watched.map(({ plural }) => plural))].sort()
    this.onlyLeaderWrites =
      operator.leaderElection !== false &&
      operator.runnables.every(({ phase = 'leader' }) => phase === 'leader') &&
      operator.controllers.every(({ needsLeader }) => needsLeader !== false)
    this.hasWebhooks = operator.webhooks.length + operator.conversions.length > 0
    const changing = rulesOf(operator).filter(mayChange)
    this.changeable = new Set(changing.flatMap(({ resources = [] }) => resources))
    this.mayChangeClaims = changing.some(
      ({ resources = [], verbs }) =>
        resources.some((one) => one === 'persistentvolumeclaims' || one === '*') &&
        verbs.some((verb) => verb === 'patch' || verb === 'update' || verb === '*'),
    )
  }
}

/** The rules of all roles of an operator. */
export function rulesOf(operator: Operator): readonly PolicyRule[] {
  const { cluster, watched, own, elsewhere } = accessOf(operator, { secureMetrics: false, managedCertificates: false })
  return [...cluster, ...watched, ...own, ...[...elsewhere.values()].flat()]
}

const mayChange = ({ verbs }: { readonly verbs: readonly string[] }): boolean =>
  verbs.some((verb) => verb === 'update' || verb === 'patch' || verb === 'delete' || verb === '*')

/** The kinds whose objects a user creates for the operator. */
export function controlledKinds(operator: Operator): AnyKind[] {
  const owned = operator.controllers.flatMap((one) => ('owns' in one ? one.owns : []))
  const children = new Set(owned.map(({ kind }) => kind))
  const kinds = operator.controllers.flatMap(({ kind }) => kind ?? [])
  // Kinds that other controllers of the operator create are not created by users.
  return [...new Set(kinds)].filter((kind) => !children.has(kind))
}

/** The kinds whose objects of other owners a controller follows. */
function followedBy(controller: Operator['controllers'][number]): string[] {
  const watches = 'watches' in controller ? controller.watches.map(({ kind }) => kind.kind) : []
  return [...watches, ...controller.sources.flatMap(({ kind }) => kind?.kind ?? [])]
}

function watchedBy(operator: Operator): AnyKind[] {
  return operator.controllers.flatMap((one) => {
    const kinds = 'owns' in one ? [...one.owns, ...one.watches].map(({ kind }) => kind) : []
    kinds.push(...one.sources.flatMap(({ kind }) => kind ?? []))
    return one.kind === undefined ? kinds : [one.kind, ...kinds]
  })
}
