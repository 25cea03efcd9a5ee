import { releaseVersions } from '@kubewright/k8s/releases'
import { expect, test } from 'vitest'
import { releaseRules } from './release-rules.ts'

test('releaseRules() finds rules that apply to some supported releases and not to all', async () => {
  const rules = await releaseRules()
  expect(rules.length).toBeGreaterThan(0)
  for (const { summary, since, until } of rules) {
    const bounds = [since, until].filter((bound) => bound !== undefined)
    expect(bounds.length, summary).toBeGreaterThan(0)
    for (const bound of bounds) expect(releaseVersions.slice(1), summary).toContain(bound)
  }
})
