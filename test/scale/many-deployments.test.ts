import { withDeadline } from '@kubewright/base'
import { startControlPlane } from '@kubewright/controlplane'
import { describe, expect, test } from 'vitest'
import { countPods, type ManyDeployments, remains, remove, rollOut } from '../../bench/controlplane/many-deployments.ts'

const many: ManyDeployments = { namespaces: 4, deployments: 15, replicas: 3 }

describe('a control plane with many Deployments', () => {
  test('rolls out all of them, and deleting their namespaces leaves no objects', { timeout: 120_000 }, async () => {
    await using plane = await startControlPlane()
    const client = plane.client()
    const { clock } = plane
    await withDeadline(clock, '90s', 'the Deployments to roll out', (signal) => rollOut(client, many, signal))
    expect(await countPods(client)).toBe(many.namespaces * many.deployments * many.replicas)
    await withDeadline(clock, '90s', 'the namespaces to go', (signal) => remove(client, many, signal))
    expect(await remains(plane)).toEqual([])
  })
})
