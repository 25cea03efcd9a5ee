import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startControlPlane } from '@kubewright/controlplane'
import { kubernetes, releaseVersions } from '@kubewright/k8s/releases'
import { describe, expect, test } from 'vitest'
import { packageFacts } from '../generate-k8s/package-facts.ts'
import { bootstrapPolicyIn } from './bootstrap-policy.ts'
import { readRecording } from './read-recording.ts'
import { recordServer } from './record-server.ts'
import { packageRecord } from './server-facts.ts'

describe('recordServer() and readRecording()', () => {
  test.each(releaseVersions)('return the facts with which a server of Kubernetes %s was started', async (version) => {
    const folder = await mkdtemp(join(tmpdir(), 'kubewright-record-'))
    try {
      await using plane = await startControlPlane({ kubernetes: version, controllers: 'none', nodes: 0 })
      await using client = plane.client({ user: { name: 'admin', groups: ['system:masters'] } })
      const release = await kubernetes(version)
      expect(await recordServer(client, folder)).toBe(release.gitVersion)
      const { api } = readRecording(folder)
      const facts = packageFacts(release)
      expect(api.groups).toEqual(facts.groups)
      // Definitions that no path refers to are published by kube-apiserver only.
      const known = Object.fromEntries(Object.keys(api.v2).map((name) => [name, facts.v2[name]]))
      expect(api.v2).toEqual(known)
      expect([...api.kinds.keys()].sort()).toEqual([...facts.kinds.keys()].sort())
      expect(bootstrapPolicyIn(folder)).toEqual((await packageRecord(release)).bootstrap)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
