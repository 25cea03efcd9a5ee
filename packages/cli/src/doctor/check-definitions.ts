import type { CrdManifest } from '@kubewright/api'
import { isForbidden } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { crdDifferences } from '../import/normal-crd.ts'
import { isCrd } from '../input/crds-in.ts'
import type { Finding } from './finding.ts'

/** Checks that the CRDs of an operator are installed, served and equal to those of the code. */
export async function checkDefinitions(
  client: ApiClient,
  crds: readonly CrdManifest[],
  signal: AbortSignal,
): Promise<Finding[]> {
  const check = 'CRDs'
  const findings: Finding[] = []
  for (const crd of crds) {
    const { name } = crd.metadata
    try {
      const problem = await problemOf(client, crd, signal)
      if (problem !== undefined) findings.push({ check, ...problem })
    } catch (error) {
      if (!isForbidden(error)) throw error
      const fix = 'ask an administrator for the permission to get customresourcedefinitions'
      findings.push({ check, level: 'skipped', message: `no permission to get ${name}`, fix })
    }
  }
  if (findings.length > 0) return findings
  return [{ check, level: 'ok', message: `${shortened(crds.map(({ metadata }) => metadata.name))} installed` }]
}

/** A list of names; of a long list the first three and the number of the others. */
function shortened(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  return names.length <= 6 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
}

async function problemOf(
  client: ApiClient,
  crd: CrdManifest,
  signal: AbortSignal,
): Promise<Omit<Finding, 'check'> | undefined> {
  const { name } = crd.metadata
  const found = await client.find(CustomResourceDefinition, name, { signal })
  if (found === undefined)
    return { level: 'failed', message: `${name} is not installed`, fix: 'run kubewright install' }
  const conditions = found.status?.conditions ?? []
  if (!conditions.some(({ type, status }) => type === 'Established' && status === 'True')) {
    const refused = conditions.find(({ type, status }) => type === 'NamesAccepted' && status === 'False')
    const why = refused === undefined ? '' : `: ${refused.message}`
    return { level: 'failed', message: `${name} is not served${why}`, fix: `see kubectl describe crd ${name}` }
  }
  const installed: unknown = found
  const differences = isCrd(installed) ? crdDifferences(installed, crd, 3) : []
  if (differences.length === 0) return undefined
  const message = `${name} differs from the code at ${differences.join(', ')}`
  return {
    level: 'warning',
    message,
    fix: 'run kubewright generate, check kubewright crd diff --cluster, then run kubewright install',
  }
}
