import { readFile } from 'node:fs/promises'
import { createLogger } from '@kubewright/base'
import { recordStory, startConsole } from '@kubewright/console'
import { ConfigMap, Secret } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../tools/build-page.ts'
import { noBrowser, openTestConsole, show, type TestConsole } from './open-test-console.ts'

if (noBrowser !== undefined) console.log(`Browser tests of the time line are skipped: ${noBrowser}`)

const configMaps = '#/table/core/v1/configmaps'
const colour = '#/object/core/v1/configmaps/default/colour'

describe.skipIf(noBrowser !== undefined)('the time line in a browser', { timeout: 180_000 }, () => {
  let env: TestConsole
  beforeAll(async () => {
    env = await openTestConsole({ recordFrom: 'start' })
  })
  afterAll(async () => env?.[Symbol.asyncDispose]())

  test('the page shows the cluster at an earlier moment, the fields that changed, and a diff', async () => {
    const page = await env.open(configMaps)
    const row = (name: string) => page.getByRole('row').filter({ hasText: name })
    const map = (value: string) => ConfigMap({ metadata: { name: 'colour' }, data: { value } })
    await env.client.apply(map('red'), { fieldManager: 'painter' })
    await row('colour').waitFor()
    await env.client.apply(map('blue'), { fieldManager: 'painter' })
    await env.client.create(Secret({ metadata: { name: 'hidden' }, stringData: { password: 'top-secret-value' } }))
    await show(page, `${colour}?tab=history`)
    await page.locator('.field', { hasText: 'data.value' }).getByText('"blue"').waitFor()
    await page.locator('.diff').getByText('+  value: blue').waitFor()
    await page.getByRole('cell', { name: 'painter' }).first().waitFor()
    await env.client.delete(ConfigMap, { name: 'colour', namespace: 'default' })
    await page.getByRole('cell', { name: 'deleted' }).waitFor()
    // The moment at which the object was created.
    await page.getByRole('row').filter({ hasText: 'created' }).getByRole('button').click()
    await show(page, `${colour}?tab=yaml`)
    await page.locator('.line', { hasText: 'value: red' }).waitFor()
    expect(await page.getByRole('tab', { name: 'Edit' }).count()).toBe(0)
    await show(page, configMaps)
    await row('colour').waitFor()
    await page.getByRole('button', { name: 'Now' }).click()
    await row('colour').waitFor({ state: 'detached' })
    await page.context().close()
  })

  test('an exported recording opens without the cluster, shows the same, and contains no Secret', async () => {
    const page = await env.open('#/changes')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export' }).click(),
    ])
    const bytes = await readFile(await download.path())
    const shown = await page.getByRole('row').filter({ hasText: 'colour' }).allInnerTexts()
    expect(shown.length).toBeGreaterThanOrEqual(3)
    await page.context().close()
    const { gunzipSync } = await import('node:zlib')
    const text = gunzipSync(bytes).toString()
    expect(text).toContain('"name":"hidden"')
    expect(text).not.toContain('top-secret-value')
    expect(text).not.toContain(Buffer.from('top-secret-value').toString('base64'))
    const log = createLogger({ enabled: () => true, write: (record) => console.error(record) })
    const again = await startConsole({ recording: bytes, page: await buildPage(), log })
    try {
      const opened = await env.browse(again, '#/changes')
      await opened.getByRole('row').filter({ hasText: 'colour' }).first().waitFor()
      expect(await opened.getByRole('row').filter({ hasText: 'colour' }).allInnerTexts()).toEqual(shown)
      expect(await opened.getByRole('button', { name: 'Now' }).count()).toBe(0)
      await opened
        .getByRole('row')
        .filter({ hasText: 'created' })
        .filter({ hasText: 'colour' })
        .getByRole('button')
        .click()
      await show(opened, configMaps)
      await opened.getByRole('row').filter({ hasText: 'colour' }).waitFor()
      await opened.context().close()
    } finally {
      await again[Symbol.asyncDispose]()
    }
  })

  test('the recording of a failed simulation opens with its story, and a step leads to its moment', async () => {
    const map = (value: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'thing', namespace: 'default', uid: 'u', creationTimestamp: '2030-01-01T00:00:00Z' },
      data: { value },
    })
    const recording = await recordStory({
      name: 'simulation of things',
      startedAt: Date.UTC(2030, 0, 1),
      states: [
        { time: 1000, object: map('red'), isDeleted: false },
        { time: 2000, object: map('blue'), isDeleted: false },
        { time: 3000, object: map('blue'), isDeleted: true },
      ],
      steps: [
        { time: 1000, actor: 'user', text: 'The user creates <b>thing</b>' },
        { time: 2000, actor: 'fault', text: 'The operator crashes', source: 'src/things.ts:12' },
        { time: 3500, actor: 'oracle', text: 'ConfigMap default/thing is missing' },
      ],
    })
    const log = createLogger({ enabled: () => false, write: () => undefined })
    await using web = await startConsole({ recording, page: await buildPage(), log })
    const page = await env.browse(web)
    await page.getByText('The user creates <b>thing</b>').waitFor()
    await page.getByText('src/things.ts:12').waitFor()
    await page.getByRole('button', { name: 'The operator crashes' }).click()
    await show(page, '#/object/core/v1/configmaps/default/thing?tab=yaml')
    await page.locator('.line', { hasText: 'value: blue' }).waitFor()
    await show(page, '#/story')
    await page.getByRole('button', { name: 'ConfigMap default/thing is missing' }).click()
    await show(page, '#/object/core/v1/configmaps/default/thing')
    await page.getByText('The object does not exist').waitFor()
    expect(await page.locator('b').count()).toBe(0)
    await page.context().close()
  })
})
