// Runs the recorded cases against servers in this process. KUBEWRIGHT_UPDATE=1 rewrites the page of the docs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startControlPlane } from '@kubewright/controlplane'
import { assembleServer, CertificateAuthority, createServerIdentity, listen } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { describeDifference } from './compare.ts'
import { compatibilityPage } from './compatibility-page.ts'
import { knownFailures } from './known-gaps.ts'
import { type AreaCase, recordedCases, runCases } from './run-cases.ts'

const cases = recordedCases()
const page = join(import.meta.dirname, '../../docs/reference/compatibility.md')

const identity = createServerIdentity(Date.now())
const admin = { token: 'test', user: { name: 'admin', groups: ['system:masters'] } }
const needs = (feature: string): ((one: AreaCase) => boolean) => {
  return ({ test }) => test.needs?.includes(feature) === true
}

/** Runs the cases and returns the differences. */
async function differences(port: number, chosen: readonly AreaCase[], controllers: boolean): Promise<string[]> {
  const results = await runCases({
    target: {
      server: new URL(`https://127.0.0.1:${port}`),
      ca: identity.ca.cert,
      token: admin.token,
      clientCa: new CertificateAuthority(identity.ca),
    },
    cases: chosen,
    controllers,
    concurrency: 8,
    // Only a case that hangs takes this long, also on a busy machine.
    timeoutSeconds: 120,
  })
  return results.flatMap(({ area, id, outcome, differences }) => {
    if (outcome === 'passed') return knownFailures.has(id) ? [`${id} passes: remove it from known-gaps.ts`] : []
    if (outcome === 'skipped') return [`${id} was skipped`]
    return knownFailures.has(id) ? [] : [`${area}/${id}: ${describeDifference(differences[0]!)}`]
  })
}

test('the server responds to the recorded requests like kube-apiserver v1.35.8', { timeout: 600_000 }, async () => {
  await using store = new MemoryStore()
  await using server = await assembleServer({ store, access: { tokens: [admin] } })
  await using listener = await listen({
    handler: server.handler,
    ...identity.serving,
    clientCas: [identity.ca.cert],
  })
  const chosen = cases.filter((one) => !needs('kcm')(one))
  expect(await differences(listener.port, chosen, false)).toEqual([])
})

test('the control plane responds to the recorded requests like kube-apiserver and kube-controller-manager', {
  timeout: 600_000,
}, async () => {
  // The recorded cluster had no nodes either.
  await using plane = await startControlPlane({ nodes: 0, access: { tokens: [admin] } })
  const { port } = await plane.listen({ identity })
  const chosen = cases.filter((one) => !needs('no-kcm')(one))
  expect(chosen.filter(needs('kcm')).length).toBeGreaterThan(30)
  expect(await differences(port, chosen, true)).toEqual([])
})

test('compatibilityPage() equals the page in the docs', () => {
  const text = compatibilityPage(cases)
  if (process.env['KUBEWRIGHT_UPDATE']) writeFileSync(page, text)
  expect(readFileSync(page, 'utf8')).toBe(text)
  const ids = new Set(cases.map(({ test }) => test.id))
  expect([...knownFailures.keys()].filter((id) => !ids.has(id))).toEqual([])
})
