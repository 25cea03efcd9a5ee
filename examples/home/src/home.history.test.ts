import { Deployment } from 'kubewright/k8s'
import { History, isTrue, startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { fakeDns } from './dns.ts'
import { Home } from './home.ts'
import { homeOperator } from './operator.ts'

async function runOnce(seed: number, skip: (reason: string) => void): Promise<History> {
  const history = new History()
  const options = { time: 'virtual', start: '2026-01-01T00:00:00Z', seed, skip, intercept: history.intercept } as const
  await using env = await startTestEnv(homeOperator(fakeDns()), options)
  expect(env.clock.now()).toBe(Date.parse('2026-01-01T00:00:00Z'))
  await env.client.create(Home({ metadata: { name: 'cosy' }, spec: { image: 'nginx:1.27', replicas: 2 } }))
  await env.until(Home, 'cosy', isTrue('Ready'))
  await env.client.patch(Home, 'cosy', { spec: { replicas: 3 } })
  await env.until(Home, 'cosy', ({ status }) => status?.readyReplicas === 3)
  await env.advance('15m')
  await env.client.delete(Home, 'cosy')
  await Promise.all([env.gone(Home, 'cosy'), env.gone(Deployment, 'cosy')])
  await env.settled()
  return history
}

test('startTestEnv() gives the same history for the same seed, and another one for another seed', async ({ skip }) => {
  const [first, second, other] = [await runOnce(7, skip), await runOnce(7, skip), await runOnce(8, skip)]
  const differs = first.lines.findIndex((line, index) => line !== second.lines[index])
  expect(second.lines[differs]).toBe(first.lines[differs])
  expect(second.hash()).toBe(first.hash())
  expect(other.hash()).not.toBe(first.hash())
})
