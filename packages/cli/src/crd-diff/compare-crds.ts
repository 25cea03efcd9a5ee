import type { CrdManifest, CrdVersion } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import { normalSchema } from '@kubewright/schema'
import { compareSchemas } from './compare-schemas.ts'
import { compareLosses } from './conversion-changes.ts'
import type { CrdChange, Report, Severity } from './crd-change.ts'

/** The changes between two sets of CRDs, sorted by CRD and severity. */
export function compareCrds(before: readonly CrdManifest[], after: readonly CrdManifest[]): CrdChange[] {
  const [old, now] = [byName(before), byName(after)]
  const changes: CrdChange[] = []
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(name), now.get(name)]
    const found: CrdChange[] = []
    const report = reporter(name, found)
    if (was !== undefined && is !== undefined) compareCrd(was, is, name, found)
    else if (is !== undefined) report('safe', '', 'CRD added')
    else report('breaking', '', 'CRD removed: its objects are deleted with it')
    changes.push(...found.sort((a, b) => rank[a.severity] - rank[b.severity]))
  }
  return changes
}

const rank: Readonly<Record<Severity, number>> = { breaking: 0, warning: 1, safe: 2 }

const byName = (crds: readonly CrdManifest[]): Map<string, CrdManifest> =>
  new Map(crds.map((crd) => [crd.metadata.name, crd]))

const reporter =
  (crd: string, changes: CrdChange[], version?: string): Report =>
  (severity, path, message) =>
    changes.push({ severity, crd, ...(version === undefined ? {} : { version }), path, message })

function compareCrd(before: CrdManifest, after: CrdManifest, name: string, changes: CrdChange[]): void {
  const report = reporter(name, changes)
  compareNames(before, after, report)
  const [old, now] = [before.spec, after.spec]
  if (old.scope !== now.scope) report('breaking', '', `scope changed from ${old.scope} to ${now.scope}`)
  const strategies = [old, now].map(({ conversion }) => conversion?.strategy ?? 'None')
  if (strategies[0] !== strategies[1])
    report('warning', '', `conversion changed from ${strategies[0]} to ${strategies[1]}`)
  compareLosses(before, after, report)
  const stored = [old, now].map(({ versions }) => versions.find(({ storage }) => storage)?.name)
  if (stored[0] !== stored[1]) {
    const hint = 'rewrite the stored objects before the old version is removed'
    report('warning', '', `storage version changed from ${stored[0]} to ${stored[1]}: ${hint}`)
  }
  for (const version of old.versions) {
    const next = now.versions.find((other) => other.name === version.name)
    const own = reporter(name, changes, version.name)
    if (next !== undefined) compareVersion(version, next, own)
    else if (version.served) own('breaking', '', 'version removed')
    else own('warning', '', 'version removed: no object may still be stored in it')
  }
  for (const version of now.versions) {
    if (!old.versions.some((other) => other.name === version.name))
      reporter(name, changes, version.name)('safe', '', 'version added')
  }
}

function compareNames(before: CrdManifest, after: CrdManifest, report: Report): void {
  const [old, now] = [before.spec.names, after.spec.names]
  if (old.kind !== now.kind) report('breaking', '', `kind changed from ${old.kind} to ${now.kind}`)
  const lists = [old, now].map(({ listKind, kind }) => listKind || `${kind}List`)
  if (lists[0] !== lists[1]) report('breaking', '', `listKind changed from ${lists[0]} to ${lists[1]}`)
  const singulars = [old, now].map(({ singular, kind }) => singular || kind.toLowerCase())
  if (singulars[0] !== singulars[1]) report('warning', '', `singular changed from ${singulars[0]} to ${singulars[1]}`)
  for (const field of ['shortNames', 'categories'] as const) {
    const [had, has] = [old[field] ?? [], now[field] ?? []]
    const removed = had.filter((one) => !has.includes(one))
    const added = has.filter((one) => !had.includes(one))
    if (removed.length > 0) report('warning', '', `${field} removed: ${removed.join(', ')}`)
    if (added.length > 0) report('safe', '', `${field} added: ${added.join(', ')}`)
  }
}

function compareVersion(before: CrdVersion, after: CrdVersion, report: Report): void {
  if (before.served && !after.served) report('breaking', '', 'version is no longer served')
  if (!before.served && after.served) report('safe', '', 'version is served now')
  if (!before.deprecated && after.deprecated) report('safe', '', 'version is deprecated now')
  compareSubresources(before, after, report)
  const [fields, nextFields] = [before, after].map(({ selectableFields = [] }) =>
    selectableFields.map((one) => one.jsonPath),
  )
  for (const path of fields ?? []) {
    if (!nextFields?.includes(path)) report('breaking', path.slice(1), 'is no longer a selectable field')
  }
  const [columns, nextColumns] = [before, after].map((one) => one.additionalPrinterColumns ?? [])
  if (!deepEqual(columns, nextColumns)) report('safe', '', 'columns of kubectl get changed')
  const [schema, nextSchema] = [before, after].map((one) => normalSchema(one.schema?.openAPIV3Schema ?? {}))
  compareSchemas(schema ?? {}, nextSchema ?? {}, '', report)
}

function compareSubresources(before: CrdVersion, after: CrdVersion, report: Report): void {
  const [old, now] = [before.subresources ?? {}, after.subresources ?? {}]
  if (old.status && !now.status) report('breaking', 'status', 'subresource removed')
  if (!old.status && now.status)
    report('breaking', 'status', 'subresource added: updates of the object no longer change the status')
  if (old.scale && !now.scale) report('breaking', '', 'scale subresource removed')
  if (!old.scale && now.scale) report('safe', '', 'scale subresource added')
  if (old.scale && now.scale && !deepEqual({ ...old.scale }, { ...now.scale }))
    report('warning', '', 'paths of the scale subresource changed')
}
