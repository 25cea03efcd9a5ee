// Lints the metrics page with promtool (Debian package prometheus). Skipped when promtool is not installed.
import { spawnSync } from 'node:child_process'
import { createMetricRegistry, measureProcess, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { managerMetrics } from '../../manager/manager-metrics.ts'

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined
const title = hasPromtool
  ? 'reports no problem'
  : 'is skipped: promtool is not on the PATH (install the package prometheus)'

describe('promtool check of all metrics', () => {
  test.skipIf(!hasPromtool)(title, () => {
    const registry = createMetricRegistry(managerMetrics)
    for (const { name, type, labels = [] } of managerMetrics) {
      const values = Object.fromEntries(labels.map((label) => [label, `a "${label}"\n\\`]))
      if (type === 'histogram') registry.observe(name, values, 0.3)
      else if (type === 'counter') registry.add(name, values, 1.5)
      else registry.set(name, values, -1e9)
    }
    measureProcess(registry, { process, clock: new VirtualClock() })
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: registry.text(),
      encoding: 'utf8',
    })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' })
  })
})
