import type { AreaCase } from './run-cases.ts'

/** Cases that go differently here, with the reason. A case that passes must leave the list: the test insists. */
export const knownFailures: ReadonlyMap<string, string> = new Map([
  ['discovery-openapi-v3-lease', 'OpenAPI documents carry no descriptions'],
])

/** What the server does not have yet: cases that need it are not run, because most would wait for it until they give up. */
export function missingFeature({ test }: AreaCase): string | undefined {
  return test.needs?.includes('kcm') ? 'controllers' : undefined
}
