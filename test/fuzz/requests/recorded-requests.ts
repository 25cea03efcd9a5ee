import { isJsonObject } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { expand } from '../../conformance/expand.ts'
import { recordedCases } from '../../conformance/run-cases.ts'

/** The requests of the recorded cases that terminate on their own, with names filled in. */
export function recordedRequests(namespace: string): RequestSpec[] {
  const names = new Map([
    ['ns', namespace],
    ['u', 'fuzz'],
    ['group', 'fuzz.example.com'],
    ['webhook', 'https://127.0.0.1:1'],
    ['caBundle', ''],
  ])
  return recordedCases().flatMap(({ test }) =>
    test.steps
      .filter((step) => step.path !== undefined && step.method !== undefined)
      // An unreachable admission webhook would reject all later requests, and a conversion webhook all of its kind.
      .filter((step) => !/webhookconfigurations|"Webhook"/.test(JSON.stringify([step.path, step.body])))
      .map(({ method, path, query, headers, body, as }) =>
        expand(
          {
            path: path!,
            method: method!,
            ...(query ? { query } : {}),
            ...(headers ? { headers } : {}),
            ...(body === undefined ? {} : { body }),
            ...(as ? { as } : {}),
          },
          names,
        ),
      ),
  )
}

/** Complete objects in the bodies of requests, by `apiVersion/kind`. */
export function sampleObjects(requests: readonly RequestSpec[]): Map<string, Record<string, unknown>[]> {
  const samples = new Map<string, Record<string, unknown>[]>()
  for (const { body } of requests) {
    if (!isJsonObject(body) || typeof body['apiVersion'] !== 'string' || typeof body['kind'] !== 'string') continue
    const key = `${body['apiVersion']}/${body['kind']}`
    const known = samples.get(key) ?? []
    samples.set(key, known)
    known.push(body)
  }
  return samples
}
