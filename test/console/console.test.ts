import { systemClock } from '@kubewright/base'
import { ConfigMap, Deployment, Namespace, Secret } from '@kubewright/k8s'
import {
  ActivityTracer,
  createManager,
  debugReport,
  defineController,
  defineOperator,
  noTracer,
  traceRequests,
} from '@kubewright/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openTestConsole, show, type TestConsole } from './open-test-console.ts'

if (noBrowser !== undefined) console.log(`Browser tests of the console are skipped: ${noBrowser}`)

const web = Deployment({
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } },
  },
})
const deployment = '#/object/apps/v1/deployments/default/web'
const configMaps = '#/table/core/v1/configmaps'

describe.skipIf(noBrowser !== undefined)('the console in a browser', { timeout: 180_000 }, () => {
  let env: TestConsole
  const stop = new AbortController()
  let running: Promise<void> | undefined

  beforeAll(async () => {
    const maps = defineController(ConfigMap, {
      name: 'maps',
      reconcile: async ({ data, metadata }, { client, log }) => {
        if (metadata.name === 'reading') {
          log.info('Read <i>nothing</i>', { tries: 7 })
          await client.find(Secret, 'absent')
        }
        if (data?.['fail'] !== undefined) throw new Error('The colour is <b>unknown</b>')
      },
    })
    let report: () => ReturnType<typeof debugReport>
    const operators = [{ name: 'colours', report: async () => JSON.parse(JSON.stringify(report())) }]
    env = await openTestConsole({ operators })
    const tracer = new ActivityTracer(noTracer, systemClock)
    const manager = createManager({
      operator: defineOperator({ name: 'colours', controllers: [maps] }),
      client: await env.connect({ around: traceRequests(tracer) }),
      tracer,
    })
    report = () => debugReport({ manager, clock: systemClock })
    running = manager.start({ signal: stop.signal })
    await manager.elected
    await env.client.apply(web, { fieldManager: 'kubectl' })
  })
  afterAll(async () => {
    stop.abort()
    await running
    await env?.[Symbol.asyncDispose]()
  })

  test('a table follows the objects, and filters them by text, labels and namespace', async () => {
    const page = await env.open(configMaps)
    expect(new URL(page.url()).hash).not.toMatch(/[0-9a-f]{48}/)
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    await env.client.create(Namespace({ metadata: { name: 'other' } }))
    await env.client.create(ConfigMap({ metadata: { name: 'red', labels: { colour: 'red' } }, data: { a: '1' } }))
    await env.client.create(ConfigMap({ metadata: { name: 'blue', namespace: 'other' } }))
    await row('red').waitFor()
    await row('blue').waitFor()
    await page.getByLabel('Filter rows').fill('blu')
    await row('red').waitFor({ state: 'detached' })
    await page.getByLabel('Filter rows').fill('')
    await page.getByLabel('Label selector').fill('colour=red')
    await page.getByLabel('Label selector').press('Enter')
    await row('blue').waitFor({ state: 'detached' })
    await row('red').waitFor()
    await show(page, configMaps)
    await page.getByLabel('Namespace', { exact: true }).selectOption('other')
    await row('red').waitFor({ state: 'detached' })
    await env.client.delete(ConfigMap, { name: 'blue', namespace: 'other' })
    await row('blue').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('an object shows its field managers, and an edit its conflicts, its diff and the result', async () => {
    const page = await env.open(`${deployment}?tab=yaml`)
    await page.getByRole('button', { name: 'kubectl Apply' }).waitFor()
    expect(await page.locator('.line', { hasText: 'replicas: 1' }).first().getAttribute('title')).toBe('kubectl Apply')
    await show(page, `${deployment}?tab=edit`)
    const editor = page.getByRole('textbox', { name: 'YAML' })
    await editor.fill((await editor.inputValue()).replace('replicas: 1', 'replicas: 2'))
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByText('conflict with "kubectl"').waitFor()
    await page.getByRole('button', { name: 'Take over' }).click()
    await page.locator('.diff .added', { hasText: 'replicas: 2' }).waitFor()
    expect((await env.client.get(Deployment, 'web')).spec?.replicas).toBe(1)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    expect((await env.client.get(Deployment, 'web')).spec?.replicas).toBe(2)
    await page.context().close()
  })

  test('the ownership graph grows when a deployment is scaled in the page', async () => {
    const page = await env.open(`${deployment}?tab=graph`)
    await page.locator('.node', { hasText: 'ReplicaSet' }).waitFor()
    await page.locator('.node', { hasText: 'Pod' }).nth(1).waitFor()
    await page.getByRole('button', { name: 'Scale' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Replicas').fill('3')
    await dialog.getByRole('button', { name: 'Scale' }).click()
    await page.locator('.node', { hasText: 'Pod' }).nth(2).waitFor()
    await page.context().close()
  })

  test('a deleted object is shown as deleted', async () => {
    await env.client.create(ConfigMap({ metadata: { name: 'short-lived' } }))
    const page = await env.open('#/object/core/v1/configmaps/default/short-lived')
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The object was deleted').waitFor()
    expect(await env.client.find(ConfigMap, 'short-lived')).toBeUndefined()
    await page.context().close()
  })

  test('values of a Secret reach the page only when the user asks for them', async () => {
    await env.client.create(Secret({ metadata: { name: 'key' }, stringData: { password: 'hunter2' } }))
    const page = await env.open()
    const received: string[] = []
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    session.on('Network.eventSourceMessageReceived', ({ data }) => received.push(data))
    await show(page, '#/object/core/v1/secrets/default/key?tab=yaml')
    await page.locator('.line', { hasText: 'password: ••••' }).waitFor()
    const encoded = Buffer.from('hunter2').toString('base64')
    expect(received.length).toBeGreaterThan(0)
    expect(received.join()).not.toContain(encoded)
    await page.getByRole('button', { name: 'Show values' }).click()
    await page.locator('.line', { hasText: encoded }).waitFor()
    await page.context().close()
  })

  test('an operator shows its reconciles with causes and errors', async () => {
    await env.client.create(ConfigMap({ metadata: { name: 'failing' }, data: { fail: 'yes' } }))
    const page = await env.open('#/operators')
    await page.getByRole('heading', { name: 'colours' }).waitFor()
    await page.getByText('add v1 ConfigMap default/failing').first().waitFor()
    await page.getByText('The colour is <b>unknown</b>').first().waitFor()
    // The oldest row, which does not move when the key is retried.
    const failing = page.getByRole('row').filter({ hasText: 'default/failing' }).last()
    await failing.getByText('Stack').click()
    // The frame of the reconciler in its TypeScript source.
    await failing.getByText(/test\/console\/console\.test\.ts:\d+/).waitFor()
    await env.client.create(ConfigMap({ metadata: { name: 'reading' } }))
    const reading = page.getByRole('row').filter({ hasText: 'default/reading' }).first()
    await reading.getByText('Requests: 1, writes: 0').click()
    await reading.getByText('GET /api/v1/namespaces/default/secrets/absent').waitFor()
    await reading.getByText('1 log lines').click()
    await reading.getByText('Read <i>nothing</i> {"tries":7}').waitFor()
    await page.getByRole('img', { name: 'Duration of reconciles' }).first().waitFor()
    await env.client.delete(ConfigMap, 'failing')
    await page.context().close()
  })

  test('hostile texts stay texts', async () => {
    const markup = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>'
    const hostile = ConfigMap({
      metadata: { name: 'hostile', annotations: { 'a/note': markup } },
      data: { 'page.html': markup, link: 'javascript:globalThis.hacked=1' },
    })
    const { metadata } = await env.client.create(hostile)
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'hostile.1', namespace: 'default' },
      involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: 'hostile', namespace: 'default', uid: metadata.uid },
      reason: '<b>Bad</b>',
      message: markup,
      type: 'Warning',
    }
    const path = '/api/v1/namespaces/default/events'
    await env.client.rest.json({ method: 'POST', path, body: JSON.stringify(event) })
    const page = await env.open()
    for (const tab of ['summary', 'yaml', 'events', 'graph', 'edit']) {
      await show(page, `#/object/core/v1/configmaps/default/hostile?tab=${tab}`)
      await page.locator(`#tab-${tab}[aria-selected=true]`).waitFor()
      if (tab === 'edit') expect(await page.getByRole('textbox', { name: 'YAML' }).inputValue()).toContain(markup)
      else
        await page
          .locator('.panel')
          .getByText(tab === 'graph' ? 'hostile' : markup)
          .first()
          .waitFor()
    }
    // A link may contain anything, too.
    await show(page, `#/object/core/v1/configmaps/default/${encodeURIComponent(markup)}`)
    await page.getByRole('heading').getByText(markup).waitFor()
    expect(await page.locator('img, script:not([src]), b').count()).toBe(0)
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    await page.context().close()
  })

  test('a long table has only the visible rows in the page', async () => {
    const names = Array.from({ length: 700 }, (_, index) => `many-${String(index).padStart(4, '0')}`)
    for (let next = 0; next < names.length; next += 50)
      await Promise.all(
        names
          .slice(next, next + 50)
          .map((name) => env.client.create(ConfigMap({ metadata: { name, namespace: 'kube-public' } }))),
      )
    const page = await env.open(configMaps)
    await page.getByLabel('Namespace', { exact: true }).selectOption('kube-public')
    // A real cluster adds up to two of its own. All namespaces together have more.
    await page.getByText(/^70[0-2] of 70[0-2]$/).waitFor()
    expect(await page.locator('.rows .row').count()).toBeLessThan(80)
    await page.locator('.rows .row').first().waitFor()
    await page.keyboard.press('End')
    await page.locator('.row.selected', { hasText: 'many-0699' }).waitFor()
    await page.keyboard.press('k')
    await page.locator('.row.selected', { hasText: 'many-0698' }).waitFor()
    await page.context().close()
  })

  test('the palette finds a kind by its short name', async () => {
    const page = await env.open(configMaps)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Type a kind or a short name' }).fill('deploy')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Deployment', exact: true }).waitFor()
    await page.context().close()
  })

  test('another language is used at once and kept', async () => {
    const page = await env.open(configMaps)
    await page.getByLabel('Language').selectOption('ja')
    await page.getByText('ライブ').waitFor()
    await page.reload()
    await page.getByText('ライブ').waitFor()
    expect(await page.locator('html').getAttribute('lang')).toBe('ja')
    await page.context().close()
  })
})
