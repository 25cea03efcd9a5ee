import { goQuote } from '@kubewright/base'
import { aggregateMessages } from '../../request/aggregate-messages.ts'
import type { Crd, CrdNames } from './crd.ts'
import { findCrdCondition } from './crd-conditions.ts'

/** The names that a CRD may use, and the conditions that follow. */
export interface NamesVerdict {
  readonly acceptedNames: CrdNames
  readonly namesAccepted: { type: 'NamesAccepted'; status: string; reason: string; message: string }
  readonly established: { type: 'Established'; status: string; reason: string; message: string }
}

/**
 * Accepts the names of a CRD that no other CRD of its group uses. A name that is in use keeps its accepted value
 * (apiextensions-apiserver, naming_controller.go). `group` contains all CRDs of the group, including `crd`.
 */
export function acceptNames(crd: Crd, group: readonly Crd[]): NamesVerdict {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const { status } of group) {
    const { plural = '', singular = '', shortNames = [], kind = '', listKind = '' } = status?.acceptedNames ?? {}
    for (const name of [plural, singular, ...shortNames]) resources.add(name)
    kinds.add(kind).add(listKind)
  }
  const wanted = crd.spec.names ?? {}
  const had = crd.status?.acceptedNames ?? {}
  const acceptedNames: CrdNames = { ...had }
  let problem: { reason: string; message: string } | undefined
  const accept = (
    field: 'plural' | 'singular' | 'kind' | 'listKind',
    taken: ReadonlySet<string>,
    reason: string,
  ): void => {
    const name = wanted[field] ?? ''
    if (name !== (had[field] ?? '') && taken.has(name)) problem = { reason, message: inUse(name) }
    else if (name === '') delete acceptedNames[field]
    else acceptedNames[field] = name
  }
  accept('plural', resources, 'PluralConflict')
  accept('singular', resources, 'SingularConflict')
  const own = new Set(had.shortNames)
  const texts = (wanted.shortNames ?? []).filter((name) => !own.has(name) && resources.has(name)).map(inUse)
  if (texts.length > 0) problem = { reason: 'ShortNamesConflict', message: aggregateMessages(texts) }
  else setOrDelete(acceptedNames, 'shortNames', wanted.shortNames)
  accept('kind', kinds, 'KindConflict')
  accept('listKind', kinds, 'ListKindConflict')
  setOrDelete(acceptedNames, 'categories', wanted.categories)
  return {
    acceptedNames,
    namesAccepted: problem
      ? { type: 'NamesAccepted', status: 'False', ...problem }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
    established: establishedNext(crd, problem === undefined),
  }
}

/** An established CRD stays established; a new one waits until the server serves it. */
function establishedNext(crd: Crd, accepted: boolean): NamesVerdict['established'] {
  const old = findCrdCondition(crd, 'Established')
  if (old?.status !== 'True' && accepted) {
    const message = 'the initial names have been accepted'
    return { type: 'Established', status: 'False', reason: 'Installing', message }
  }
  const { status = 'False', reason = 'NotAccepted', message = 'not all names are accepted' } = old ?? {}
  return { type: 'Established', status, reason, message }
}

function inUse(name: string): string {
  return `${goQuote(name)} is already in use`
}

function setOrDelete(names: CrdNames, field: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value === undefined) delete names[field]
  else names[field] = [...value]
}
