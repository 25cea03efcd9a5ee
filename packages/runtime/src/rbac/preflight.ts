import { KubewrightError, Semaphore } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { OperatorAccess } from './operator-access.ts'
import { mergeRules, type PolicyRule } from './policy-rule.ts'

/** Options of {@link preflight}. */
export interface PreflightOptions {
  readonly api: Pick<ApiClient, 'rest'>
  /** The required permissions. */
  readonly access: OperatorAccess
  /** The namespaces of `access.watched`. */
  readonly namespaces: readonly string[]
  /** The namespace of `access.own`. */
  readonly ownNamespace: string
  readonly signal?: AbortSignal | undefined
}

/** Missing permissions in one namespace, or in the cluster. */
export interface MissingAccess {
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined
  readonly rules: readonly PolicyRule[]
}

/** The maximum number of concurrent reviews. */
const atOnce = 8

/** Asks the API server for each permission whether this process has it. Returns the missing ones, by namespace. */
export async function preflight(options: PreflightOptions): Promise<MissingAccess[]> {
  const { access, namespaces, ownNamespace } = options
  const places = new Map<string | undefined, PolicyRule[]>([[undefined, [...access.cluster]]])
  const need = (namespace: string, rules: readonly PolicyRule[]): void => {
    places.set(namespace, [...(places.get(namespace) ?? []), ...rules])
  }
  for (const namespace of namespaces) need(namespace, access.watched)
  need(ownNamespace, access.own)
  for (const [namespace, rules] of access.elsewhere) need(namespace, rules)
  const turns = new Semaphore(atOnce)
  const missing: MissingAccess[] = []
  for (const [namespace, rules] of places) {
    const denied = await Promise.all(
      mergeRules(rules)
        .flatMap(atoms)
        .map((atom) => turns.run(async () => ((await isAllowed(options, namespace, atom)) ? [] : [atom]))),
    )
    const found = mergeRules(denied.flat())
    if (found.length > 0) missing.push({ namespace, rules: found })
  }
  return missing
}

interface Atom extends PolicyRule {
  readonly apiGroups: readonly [string]
  readonly resources: readonly [string]
  readonly verbs: readonly [string]
}

function atoms({ apiGroups = [], resources = [], resourceNames, verbs }: PolicyRule): Atom[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb): Atom[] => {
        const atom: Atom = { apiGroups: [group], resources: [resource], verbs: [verb] }
        return resourceNames ? resourceNames.map((name) => ({ ...atom, resourceNames: [name] })) : [atom]
      }),
    ),
  )
}

async function isAllowed(
  { api, signal }: PreflightOptions,
  namespace: string | undefined,
  atom: Atom,
): Promise<boolean> {
  const [resource = '', subresource] = atom.resources[0].split('/')
  const resourceAttributes = {
    group: atom.apiGroups[0],
    resource,
    verb: atom.verbs[0],
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(atom.resourceNames === undefined ? {} : { name: atom.resourceNames[0] }),
  }
  const apiVersion = 'authorization.k8s.io/v1'
  const answer = (await api.rest.json({
    method: 'POST',
    path: `/apis/${apiVersion}/selfsubjectaccessreviews`,
    body: JSON.stringify({ apiVersion, kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } }),
    signal,
  })) as { readonly status?: { readonly allowed?: boolean | undefined } | undefined }
  return answer.status?.allowed === true
}

/** Describes the missing permissions and the fix. */
export function describeMissing(missing: readonly MissingAccess[]): string {
  const places = missing.map(({ namespace, rules }) => {
    const where = namespace === undefined ? 'in the whole cluster' : `in namespace ${namespace}`
    return `${rules.map(ruleText).join('; ')} (${where}, by a ${namespace === undefined ? 'ClusterRole' : 'Role'})`
  })
  return `the operator's service account is not allowed to ${places.join(', nor ')}: grant the missing permissions with a role`
}

function ruleText({ apiGroups = [], resources = [], resourceNames, verbs }: PolicyRule): string {
  const names = resources.flatMap((resource) => {
    const [plural = '', subresource] = resource.split('/')
    return apiGroups.map((group) => {
      return `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`
    })
  })
  const named = resourceNames === undefined ? '' : ` named ${resourceNames.join(', ')}`
  return `${verbs.join(', ')} ${names.join(', ')}${named}`
}

/** The error of the readiness check while permissions are missing. */
export function missingAccessError(missing: readonly MissingAccess[]): KubewrightError {
  return new KubewrightError('KW_ACCESS', describeMissing(missing))
}
