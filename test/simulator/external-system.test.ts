// The recipe of docs/guides/external-systems.md, simulated.
import { randomBytes } from 'node:crypto'
import type { KubeObject } from 'kubewright'
import { Secret } from 'kubewright/k8s'
import { simulate } from 'kubewright/simulate'
import { startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { Account, accountOperator, FakeCloud, type PasswordOf, passwordOf } from './external-system.ts'

/** The password that the Secret has is the one that the cloud knows. */
function passwordsAgree(objects: readonly KubeObject[], { accounts }: FakeCloud): string | undefined {
  for (const { kind, metadata } of objects) {
    if (kind !== 'Account') continue
    const { name, namespace } = { name: `${metadata.name}-login`, namespace: metadata.namespace }
    const secret = objects.find(
      (one) => one.kind === 'Secret' && one.metadata.name === name && one.metadata.namespace === namespace,
    )
    const { data } = (secret ?? {}) as Partial<Secret>
    const stored = Buffer.from(data?.['password'] ?? '', 'base64').toString()
    if (accounts.get(metadata.uid)?.password !== stored) return `${metadata.name} has another password than its Secret`
  }
  return undefined
}

const run = (password: PasswordOf, schedules: number) =>
  simulate<FakeCloud>(({ world }) => accountOperator(world, password), {
    world: () => new FakeCloud(),
    schedules,
    invariants: [{ name: 'the cloud knows the stored password', when: 'settled', check: passwordsAgree }],
  })

test('the operator of the recipe creates, keeps and removes an account', async () => {
  const cloud = new FakeCloud()
  await using env = await startTestEnv(accountOperator(cloud), { time: 'virtual' })
  const { metadata } = await env.client.create(Account({ metadata: { name: 'a' }, spec: {} }))
  await env.settled()
  const first = cloud.accounts.get(metadata.uid)?.password
  expect(first).toMatch(/^[0-9a-f]{32}$/)
  await env.update(Account, 'a', (draft) => {
    draft.spec = { plan: 'paid' }
  })
  await env.settled()
  expect(cloud.accounts.get(metadata.uid)).toEqual({ plan: 'paid', password: first })
  await env.client.delete(Account, 'a')
  await env.gone(Account, 'a')
  expect(cloud.accounts.size).toBe(0)
})

test('the operator of the recipe passes the simulation', async () => {
  const report = await run(passwordOf, 60)
  expect(report.failure).toBeUndefined()
}, 300_000)

test('the simulation finds a password that is replaced', async () => {
  // The obvious code: the cache may not show the Secret that an earlier process has created.
  const obvious: PasswordOf = async (account, { client, apply }) => {
    const { name, namespace } = account.metadata
    const known = await client.find(Secret, { name: `${name}-login`, namespace })
    const password = known?.data?.['password'] ?? Buffer.from(randomBytes(16).toString('hex')).toString('base64')
    await apply(Secret({ metadata: { name: `${name}-login` }, data: { password } }))
    return Buffer.from(password, 'base64').toString()
  }
  await expect(run(obvious, 60)).rejects.toThrow()
}, 300_000)
