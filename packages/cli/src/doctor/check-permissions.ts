import { isJsonObject } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Finding } from './finding.ts'

/** The part of an RBAC rule that is checked. */
export interface WantedRule {
  readonly apiGroups?: readonly string[] | undefined
  readonly resources?: readonly string[] | undefined
  readonly resourceNames?: readonly string[] | undefined
  readonly nonResourceURLs?: readonly string[] | undefined
  readonly verbs: readonly string[]
}

/** Rules that are needed in a namespace, or in the whole cluster. */
export interface WantedAccess {
  readonly rules: readonly WantedRule[]
  /** Absent for the whole cluster. */
  readonly namespace?: string | undefined
}

/** How missing permissions are reported. */
export interface PermissionPurpose {
  readonly check: string
  readonly level: 'warning' | 'failed'
  /** The command or operator that needs the permissions. */
  readonly purpose: string
  readonly fix: string
}

interface Review {
  /** `create homes.ajd.example.com/status in team`. */
  readonly text: string
  readonly spec: object
}

// The number of concurrent requests.
const atOnce = 8

/** Checks the permissions of the user of the kubeconfig, with one SelfSubjectAccessReview for each verb of each resource. */
export async function checkPermissions(
  client: ApiClient,
  wanted: readonly WantedAccess[],
  { check, level, purpose, fix }: PermissionPurpose,
  signal: AbortSignal,
): Promise<Finding[]> {
  const reviews = new Map(wanted.flatMap(reviewsOf).map((review) => [review.text, review]))
  const missing: string[] = []
  const all = [...reviews.values()]
  for (let at = 0; at < all.length; at += atOnce) {
    const some = all.slice(at, at + atOnce)
    const results = await Promise.all(some.map((review) => isAllowed(client, review.spec, signal)))
    missing.push(...some.filter((_, index) => !results[index]).map(({ text }) => text))
  }
  if (missing.length === 0)
    return [{ check, level: 'ok', message: `all ${all.length} permissions of ${purpose} are granted` }]
  return [{ check, level, message: `${purpose} lacks: ${byResource(missing)}`, fix }]
}

/** Combines `get a`, `list a` and `get b` to `get, list a; get b`. */
function byResource(texts: readonly string[]): string {
  const verbs = new Map<string, string[]>()
  for (const text of texts) {
    const [verb = '', ...rest] = text.split(' ')
    const what = rest.join(' ')
    verbs.set(what, [...(verbs.get(what) ?? []), verb])
  }
  return [...verbs].map(([what, names]) => `${names.join(', ')} ${what}`).join('; ')
}

async function isAllowed(client: ApiClient, spec: object, signal: AbortSignal): Promise<boolean> {
  const response = await client.rest.json({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }),
    signal,
  })
  const status = isJsonObject(response) ? response['status'] : undefined
  return isJsonObject(status) && status['allowed'] === true
}

function reviewsOf({ rules, namespace }: WantedAccess): Review[] {
  const where = namespace === undefined ? '' : ` in ${namespace}`
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames = [''], nonResourceURLs = [], verbs }) =>
    verbs.flatMap((verb): Review[] => [
      ...nonResourceURLs.map((path) => ({
        text: `${verb} ${path}`,
        spec: { nonResourceAttributes: { path, verb } },
      })),
      ...apiGroups.flatMap((group) =>
        resources.flatMap((full) =>
          resourceNames.map((name): Review => {
            const [resource = '', subresource] = full.split('/')
            const shown = `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`
            return {
              text: `${verb} ${shown}${name === '' ? '' : ` ${name}`}${where}`,
              spec: {
                resourceAttributes: {
                  group,
                  resource,
                  verb,
                  ...(subresource === undefined ? {} : { subresource }),
                  ...(name === '' ? {} : { name }),
                  ...(namespace === undefined ? {} : { namespace }),
                },
              },
            }
          }),
        ),
      ),
    ]),
  )
}
