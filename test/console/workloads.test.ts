import { AsyncQueue, createLogger, systemClock } from '@kubewright/base'
import { createClient, type MessageConnection, type Transport } from '@kubewright/client'
import { startConsole } from '@kubewright/console'
import { ClusterRole, ClusterRoleBinding, Deployment, Node, Pod } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../tools/build-page.ts'
import { noBrowser, noSimulation, openTestConsole, show, type TestConsole } from './open-test-console.ts'

const skipped = noBrowser ?? noSimulation
if (skipped !== undefined) console.log(`Browser tests of workloads are skipped: ${skipped}`)

describe.skipIf(skipped !== undefined)('pods and nodes in the console', { timeout: 180_000 }, () => {
  let env: TestConsole
  let pod = ''
  beforeAll(async () => {
    env = await openTestConsole()
    const annotations = { 'kubewright.dev/log': '\u001b[31mlistening\u001b[0m on <b>8080</b>\u001b]0;title\u0007' }
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

  test('a pod shows the log of its container as text, without escape sequences of terminals', async () => {
    const page = await env.open(`#/object/core/v1/pods/default/${pod}?tab=logs`)
    await page.getByRole('log').getByText('listening on <b>8080</b>').waitFor()
    await page.context().close()
  })

  test('a command runs in a container with its output as text, and a port is forwarded', async () => {
    const page = await env.open(`#/object/core/v1/pods/default/${pod}?tab=exec`)
    await page.getByRole('button', { name: 'Run' }).click()
    // Simulated containers run no program; the console shows the answer of the API server.
    await page.getByText('exec, attach and port-forward are not available').waitFor()
    await page.context().close()
    const commands: string[] = []
    const { rest } = env.client
    const transport: Transport = {
      host: rest.transport.host,
      send: (request) => rest.transport.send(request),
      upgrade: async ({ path }) => {
        commands.push(path)
        return path.includes('/portforward') ? webServer() : shell()
      },
      [Symbol.asyncDispose]: async () => undefined,
    }
    const log = createLogger({ enabled: () => false, write: () => undefined })
    await using web = await startConsole({ client: createClient({ transport }), page: await buildPage(), log })
    const other = await env.browse(web, `#/object/core/v1/pods/default/${pod}?tab=exec`)
    await other.getByLabel('Command').fill('sh -i')
    await other.getByRole('button', { name: 'Run' }).click()
    const output = other.getByRole('log')
    await output.getByText('welcome <img src=x onerror=alert(1)>').waitFor()
    await other.getByLabel('Input').fill('hello')
    await other.getByLabel('Input').press('Enter')
    await output.getByText('you said hello').waitFor()
    await other.getByLabel('Input').fill('exit')
    await other.getByLabel('Input').press('Enter')
    await other.getByText('The command exited with code 3').waitFor()
    await show(other, `#/object/core/v1/pods/default/${pod}?tab=ports`)
    await other.getByLabel('Port of the pod').fill('8080')
    await other.getByRole('button', { name: 'Forward', exact: true }).click()
    const link = other.getByRole('link', { name: /^127\.0\.0\.1:\d+$/ })
    const response = await fetch((await link.getAttribute('href')) ?? '')
    expect(await response.text()).toBe('from the pod')
    await other.getByRole('button', { name: 'Stop', exact: true }).click()
    await link.waitFor({ state: 'detached' })
    expect(commands.pop()).toContain(`/pods/${pod}/portforward?ports=8080`)
    expect(commands).toEqual([expect.stringContaining('command=sh&command=-i')])
    expect(await other.locator('img').count()).toBe(0)
    await other.context().close()
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

/** The connection to a shell that repeats its input and exits with 3. */
function shell(): MessageConnection {
  const messages = new AsyncQueue<Uint8Array>()
  const write = (channel: number, text: string): void => {
    messages.push(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
  }
  write(1, 'welcome \u001b[31m<img src=x onerror=alert(1)>\u001b[0m\n')
  return {
    protocol: 'v5.channel.k8s.io',
    send: async (message) => {
      const text = Buffer.from(message.subarray(1)).toString().trim()
      if (text !== 'exit') return write(2, `you said ${text}\n`)
      const failed = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NonZeroExitCode' }
      const causes = [{ reason: 'ExitCode', message: '3' }]
      write(3, JSON.stringify({ ...failed, details: { causes } }))
      messages.close()
    },
    close: () => messages.close(),
    [Symbol.asyncIterator]: () => messages[Symbol.asyncIterator](),
  }
}

/** The connection to a port of a pod that answers each request. */
function webServer(): MessageConnection {
  const messages = new AsyncQueue<Uint8Array>()
  // Both channels begin with the number of the port.
  for (const channel of [0, 1]) messages.push(Buffer.from([channel, 0x90, 0x1f]))
  return {
    protocol: 'v4.channel.k8s.io',
    send: async () => {
      const body = 'from the pod'
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`
      messages.push(Buffer.concat([Buffer.from([0]), Buffer.from(head + body)]))
      messages.close()
    },
    close: () => messages.close(),
    [Symbol.asyncIterator]: () => messages[Symbol.asyncIterator](),
  }
}
