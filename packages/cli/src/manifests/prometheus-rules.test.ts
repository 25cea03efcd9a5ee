import { defineOperator } from '@kubewright/runtime'
import { describe, expect, test } from 'vitest'
import { baseNaming } from './manifest.ts'
import { resolveOptions } from './manifest-options.ts'
import { describeOperator } from './operator-description.ts'
import { prometheusRules } from './prometheus-rules.ts'
import { knownMetrics, metricsIn } from './testdata/known-metrics.ts'

const operator = describeOperator(defineOperator({ name: 'home', controllers: [] }))

describe('prometheusRules()', () => {
  const { spec } = prometheusRules({
    operator,
    options: resolveOptions('home', {}),
    naming: baseNaming,
  }) as unknown as {
    spec: { groups: { rules: { alert: string; expr: string }[] }[] }
  }
  const rules = spec.groups.flatMap((group) => group.rules)

  test('uses only metrics of operators', () => {
    const asked = new Set(rules.flatMap(({ expr }) => metricsIn(expr)))
    expect([...asked].filter((name) => name !== 'up' && !knownMetrics.has(name))).toEqual([])
    expect(asked.size).toBeGreaterThan(8)
  })

  test('has alerts for leader election and webhooks only if the operator uses them', () => {
    expect(rules.map(({ alert }) => alert)).toContain('NoLeader')
    expect(rules.map(({ alert }) => alert)).not.toContain('WebhookErrors')
  })
})
