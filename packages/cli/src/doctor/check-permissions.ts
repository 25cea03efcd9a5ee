import type { ApiClient } from '@kubewright/client'
import { isRecord } from '../text/is-record.ts'
import type { Finding } from './finding.ts'

/** A rule of RBAC, as far as it is asked about. */
export interface WantedRule {
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly verbs: readonly string[]
}

/** Rules that are wanted in a namespace, or in all of them. */
export interface WantedAccess {
  readonly rules: readonly WantedRule[]
  /** Not there for the whole cluster. */
  readonly namespace?: string
}

/** What a missing permission means, for the person who reads of it. */
export interface PermissionPurpose {
  readonly check: string
  readonly level: 'warning' | 'failed'
  /** What needs the permissions: "install". */
  readonly purpose: string
  readonly cure: string
}

interface Question {
  /** `create homes.ajd.example.com/status in team`. */
  readonly text: string
  readonly spec: object
}

const atOnce = 8

/** Asks the API server whether the user of the kubeconfig has permissions, one question for each verb of each resource. */
export async function checkPermissions(
  client: ApiClient,
  wanted: readonly WantedAccess[],
  { check, level, purpose, cure }: PermissionPurpose,
  signal: AbortSignal,
): Promise<Finding[]> {
  const questions = new Map(wanted.flatMap(questionsOf).map((question) => [question.text, question]))
  const missing: string[] = []
  const all = [...questions.values()]
  for (let at = 0; at < all.length; at += atOnce) {
    const some = all.slice(at, at + atOnce)
    const answers = await Promise.all(some.map((question) => isAllowed(client, question.spec, signal)))
    missing.push(...some.filter((_, index) => !answers[index]).map(({ text }) => text))
  }
  if (missing.length === 0)
    return [{ check, level: 'ok', message: `all ${all.length} that ${purpose} needs are granted` }]
  return [{ check, level, message: `${purpose} may not ${byResource(missing)}`, cure }]
}

/** `get a`, `list a` and `get b` as `get, list a; get b`. */
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
  const review = await client.rest.json({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: JSON.stringify({ apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec }),
    signal,
  })
  const status = isRecord(review) ? review['status'] : undefined
  return isRecord(status) && status['allowed'] === true
}

function questionsOf({ rules, namespace }: WantedAccess): Question[] {
  const where = namespace === undefined ? '' : ` in ${namespace}`
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames = [''], nonResourceURLs = [], verbs }) =>
    verbs.flatMap((verb): Question[] => [
      ...nonResourceURLs.map((path) => ({
        text: `${verb} ${path}`,
        spec: { nonResourceAttributes: { path, verb } },
      })),
      ...apiGroups.flatMap((group) =>
        resources.flatMap((full) =>
          resourceNames.map((name): Question => {
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
