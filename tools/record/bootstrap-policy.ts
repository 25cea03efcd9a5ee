// The roles and bindings of a fresh server in the short form of packages/server/src/bootstrap.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BootstrapBinding, BootstrapRole } from '../../packages/server/src/bootstrap/bootstrap-policy.ts'

/** Roles and bindings in the order of the server. */
export interface BootstrapPolicy {
  readonly roles: readonly BootstrapRole[]
  readonly bindings: readonly BootstrapBinding[]
}

interface Rule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

interface Recorded {
  metadata: { name: string; namespace?: string; labels?: Record<string, string> }
  rules?: Rule[]
  aggregationRule?: { clusterRoleSelectors?: { matchLabels: Record<string, string> }[] }
  subjects?: { kind: string; name: string; namespace?: string }[]
  roleRef?: { kind: string; name: string }
}

/** Reads the policy from a recording. */
export function bootstrapPolicyIn(folder: string): BootstrapPolicy {
  const objects = join(folder, 'objects')
  const items = (plural: string): Recorded[] =>
    readdirSync(objects)
      .filter((file) => file.endsWith(`.v1.${plural}.json`))
      .flatMap((file) => (JSON.parse(readFileSync(join(objects, file), 'utf8')) as { items: Recorded[] }).items)
      .filter(({ metadata }) => metadata.labels?.['kubernetes.io/bootstrapping'] === 'rbac-defaults')
  return {
    roles: [...items('clusterroles'), ...items('roles')].map(roleOf),
    bindings: [...items('clusterrolebindings'), ...items('rolebindings')].map(bindingOf),
  }
}

const list = (items: readonly string[]): string => items.map((item) => (item === '' ? 'core' : item)).join(',')

function ruleText({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Rule): string {
  if (nonResourceURLs) return `${list(verbs)} ${list(nonResourceURLs)}`
  const names = resourceNames ? [list(resourceNames)] : []
  return [list(verbs), list(apiGroups ?? []), list(resources ?? []), ...names].join(' ')
}

const aggregationPrefix = 'rbac.authorization.k8s.io/aggregate-to-'

function suffixes(labels: Record<string, string> = {}): string[] {
  return Object.keys(labels)
    .filter((key) => key.startsWith(aggregationPrefix))
    .map((key) => key.slice(aggregationPrefix.length))
}

function roleOf({ metadata, rules, aggregationRule }: Recorded): BootstrapRole {
  const to = suffixes(metadata.labels)
  const from = (aggregationRule?.clusterRoleSelectors ?? []).flatMap(({ matchLabels }) => suffixes(matchLabels))
  return {
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    ...(to.length > 0 ? { aggregateTo: to } : {}),
    ...(from.length > 0 ? { aggregateFrom: from } : {}),
    // The server computes the rules of aggregated roles.
    ...(rules && from.length === 0 ? { rules: rules.map(ruleText) } : {}),
  }
}

function bindingOf({ metadata, roleRef, subjects }: Recorded): BootstrapBinding {
  return {
    name: metadata.name,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    role: `${roleRef!.kind} ${roleRef!.name}`,
    subjects: (subjects ?? []).map(({ kind, name, namespace }) =>
      [kind, ...(namespace ? [namespace] : []), name].join(' '),
    ),
  }
}
