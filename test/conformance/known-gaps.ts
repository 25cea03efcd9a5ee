import type { AreaCase } from './run-cases.ts'

/** Cases that go differently here, with the reason. A case that passes must leave the list: the test insists. */
export const knownFailures: ReadonlyMap<string, string> = new Map([
  ['discovery-openapi-v3-lease', 'OpenAPI documents carry no descriptions'],
])

/** What the server does not have yet: cases that need it are not run, because most would wait for it until they give up. */
export function missingFeature({ area, test }: AreaCase): string | undefined {
  const text = JSON.stringify(test.steps)
  if (text.includes('apiextensions.k8s.io') || test.steps.some((step) => step.crd)) return 'custom resources'
  if (area === 'vap') return 'admission policies'
  if (test.webhooks) return 'webhooks'
  if (area === 'apiservice' && test.id === 'apiservice-service-missing') return 'aggregation'
  if (test.needs?.includes('kcm')) return 'controllers'
  return undefined
}
