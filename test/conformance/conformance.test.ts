// Plays the recorded cases against a server of this process. KUBEWRIGHT_UPDATE=1 rewrites the page of the docs.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assembleServer, CertificateAuthority, createServerIdentity, listen } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { expect, it } from 'vitest'
import { describeDifference } from './compare.ts'
import { compatibilityPage, sortCases } from './compatibility-page.ts'
import { knownFailures } from './known-gaps.ts'
import { type CaseResult, recordedCases, runCases } from './run-cases.ts'

const cases = recordedCases()
const page = join(import.meta.dirname, '../../docs/reference/compatibility.md')

async function results(): Promise<CaseResult[]> {
  await using store = new MemoryStore()
  await using server = await assembleServer({
    store,
    access: { tokens: [{ token: 'test', user: { name: 'admin', groups: ['system:masters'] } }] },
  })
  const identity = createServerIdentity(Date.now())
  await using listener = await listen({
    handler: server.handler,
    ...identity.serving,
    clientCas: [identity.ca.cert],
  })
  return await runCases({
    target: {
      server: new URL(`https://127.0.0.1:${listener.port}`),
      ca: identity.ca.cert,
      token: 'test',
      clientCa: new CertificateAuthority(identity.ca),
    },
    cases: sortCases(cases).run,
    concurrency: 8,
    timeoutSeconds: 30,
  })
}

it('answers the recorded requests as kube-apiserver v1.35.8 did', { timeout: 240_000 }, async () => {
  const all = await results()
  const surprises = all
    .filter(({ id, outcome }) => outcome === 'failed' && !knownFailures.has(id))
    .map(({ area, id, differences }) => `${area}/${id}: ${describeDifference(differences[0]!)}`)
  expect(surprises).toEqual([])
  expect(all.filter(({ outcome }) => outcome === 'skipped')).toEqual([])
  const mended = all.filter(({ id, outcome }) => outcome === 'passed' && knownFailures.has(id)).map(({ id }) => id)
  expect(mended, 'cases that pass must leave the list of known failures').toEqual([])
})

it('compatibilityPage() is what the docs show', () => {
  const text = compatibilityPage(cases)
  if (process.env['KUBEWRIGHT_UPDATE']) writeFileSync(page, text)
  expect(readFileSync(page, 'utf8')).toBe(text)
  const ids = new Set(cases.map(({ test }) => test.id))
  expect([...knownFailures.keys()].filter((id) => !ids.has(id))).toEqual([])
})
