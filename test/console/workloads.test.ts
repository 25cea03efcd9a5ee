import { systemClock } from '@kubewright/base'
import { ClusterRole, ClusterRoleBinding, Deployment, Node, Pod } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openTestConsole, show, type TestConsole } from './open-test-console.ts'

if (noBrowser !== undefined) console.log(`Browser tests of workloads are skipped: ${noBrowser}`)

describe.skipIf(noBrowser !== undefined)('pods and nodes in the console', { timeout: 180_000 }, () => {
  let env: TestConsole
  let pod = ''
  beforeAll(async () => {
    env = await openTestConsole()
    const annotations = { 'kubewright.dev/log': 'listening on <b>8080</b>' }
    const template = {
      metadata: { labels: { app: 'web' }, annotations },
      spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
    }
    await env.client.create(
      Deployment({
        metadata: { name: 'web' },
        spec: { replicas: 1, selector: { matchLabels: { app: 'web' } }, template },
      }),
    )
    pod = await runningPod(env)
  })
  afterAll(async () => env?.[Symbol.asyncDispose]())

  test('a pod shows the log of its container as text', async () => {
    const page = await env.open(`#/object/core/v1/pods/default/${pod}?tab=logs`)
    await page.getByRole('log').getByText('listening on <b>8080</b>').waitFor()
    await page.context().close()
  })

  test('an object shows who may change it, through which binding', async () => {
    await env.client.create(
      ClusterRole({
        metadata: { name: 'pod-deleter' },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['delete'] }],
      }),
    )
    await env.client.create(
      ClusterRoleBinding({
        metadata: { name: 'janitor-deletes' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'pod-deleter' },
        subjects: [{ kind: 'User', name: 'janitor', apiGroup: 'rbac.authorization.k8s.io' }],
      }),
    )
    const page = await env.open(`#/object/core/v1/pods/default/${pod}?tab=access`)
    const row = (verb: string) =>
      page.getByRole('row').filter({ has: page.getByRole('cell', { name: verb, exact: true }) })
    await row('delete').getByText('User janitor').waitFor()
    expect(await row('delete').getByText('User janitor').getAttribute('title')).toBe(
      'ClusterRoleBinding janitor-deletes',
    )
    expect(await row('create').getByText('User janitor').count()).toBe(0)
    await row('create').getByRole('cell', { name: 'yes' }).waitFor()
    await page.context().close()
  })

  test('an evicted pod is replaced, and a drained node is empty and unschedulable', async () => {
    const page = await env.open(`#/object/core/v1/pods/default/${pod}`)
    await page.getByRole('button', { name: 'Evict' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Evict' }).click()
    await page.getByText('The object was deleted').waitFor()
    const node = (await env.client.list(Node))[0]?.metadata.name ?? ''
    await show(page, `#/object/core/v1/nodes/-/${node}`)
    await page.getByRole('button', { name: 'Drain' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
    await page.getByRole('button', { name: 'Uncordon' }).waitFor()
    const placed = async () => (await env.client.list(Pod)).filter(({ spec }) => spec.nodeName === node).length
    await expect.poll(placed).toBe(0)
    await page.context().close()
  })
})

/** The name of a running pod, once there is one. */
async function runningPod({ client }: TestConsole): Promise<string> {
  for (;;) {
    const running = (await client.list(Pod)).find(({ status }) => status?.phase === 'Running')
    if (running !== undefined) return running.metadata.name
    await systemClock.sleep(100)
  }
}
