import type { CrdManifest, CrdVersion } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { Conversion } from '@kubewright/runtime'
import { lostFields } from '@kubewright/schema'
import { findEntry } from '../entry/find-entry.ts'
import { loadOperator } from '../entry/load-operator.ts'
import { projectRuntime } from '../entry/project-runtime.ts'
import type { CrdChange, Report } from './crd-change.ts'

/**
 * Reports the fields that objects lose between the versions of a CRD without a conversion, unless the old CRD lost them
 * too. The API server then changes only the apiVersion of an object and prunes it.
 */
export function compareLosses(before: CrdManifest, after: CrdManifest, report: Report): void {
  const known = new Set(lossesOf(before).map(({ from, to, path }) => `${from} ${to} ${path}`))
  for (const { from, to, path } of lossesOf(after)) {
    if (known.has(`${from} ${to} ${path}`)) continue
    report('breaking', path, `is lost between ${from} and ${to}: the CRD has no conversion`)
  }
}

interface Loss {
  readonly from: string
  readonly to: string
  readonly path: string
}

function lossesOf({ spec }: CrdManifest): Loss[] {
  if (spec.conversion?.strategy === 'Webhook') return []
  const stored = spec.versions.find(({ storage }) => storage)
  if (stored === undefined) return []
  const lost = (from: CrdVersion, to: CrdVersion): Loss[] =>
    lostFields(from.schema?.openAPIV3Schema ?? {}, to.schema?.openAPIV3Schema ?? {}).map(({ path }) => ({
      from: from.name,
      to: to.name,
      path,
    }))
  const others = spec.versions.filter((version) => version !== stored)
  return others.flatMap((version) => [...lost(version, stored), ...lost(stored, version)])
}

/** The losses of an operator's conversions for the given CRDs, as the round trips of `checkConversion` find them. */
export async function conversionChanges(
  entry: string,
  crds: readonly CrdManifest[],
  { clock, folder }: { readonly clock: Clock; readonly folder: string },
): Promise<CrdChange[]> {
  const found = await findEntry(entry, folder)
  const { operator } = await loadOperator(found, clock)
  const runtime = await projectRuntime(found.file)
  return operator.conversions.flatMap((conversion) => {
    const name = nameOf(conversion)
    if (!crds.some((crd) => crd.metadata.name === name)) return []
    return runtime.conversionLosses(conversion).map(({ from, via, path, change, message }): CrdChange => {
      const way = `when ${from} is converted to ${via} and back`
      const text = change === 'throws' ? `the conversion throws ${way}: ${message}` : `${change} ${way}`
      return { severity: 'breaking', crd: name, version: from, path, message: text }
    })
  })
}

/** The CRDs that are converted by a webhook whose losses cannot be known from the CRD. */
export function webhookConverted(crds: readonly CrdManifest[]): string[] {
  return crds
    .filter(({ spec }) => spec.conversion?.strategy === 'Webhook' && spec.versions.length > 1)
    .map(({ metadata }) => metadata.name)
}

const nameOf = ({ hub }: Conversion): string => `${hub.plural}.${hub.group}`
