import { readFile } from 'node:fs/promises'
import { createLogger } from '@kubewright/base'
import { startConsole } from '@kubewright/console'
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
})
