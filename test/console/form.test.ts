import { crdOf, defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openTestConsole, show, type TestConsole } from './open-test-console.ts'

if (noBrowser !== undefined) console.log(`Browser tests of forms are skipped: ${noBrowser}`)

const Home = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Home',
  spec: s
    .object({
      colour: s.enum(['red', 'blue']).describe('The colour of the front door.'),
      rooms: s.int({ minimum: 1 }).default(2),
      doors: s.array(s.object({ name: s.string(), locked: s.bool().optional() })).optional(),
    })
    .rule('self.colour != "red" || self.rooms < 5', 'a red home has fewer than 5 rooms'),
})

describe.skipIf(noBrowser !== undefined)('forms of the console', { timeout: 180_000 }, () => {
  let env: TestConsole
  beforeAll(async () => {
    env = await openTestConsole()
    await env.client.create(crdOf(Home))
  })
  afterAll(async () => env?.[Symbol.asyncDispose]())

  test('a new object is created, checked by the server while the user types, and edited', async () => {
    const page = await env.open('#/table/example.com/v1/homes')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByLabel('name *').fill('cottage')
    await page.getByRole('button', { name: '+ spec' }).click()
    await page.getByText('The colour of the front door.').waitFor()
    await page.getByLabel('colour').selectOption('red')
    await page.getByLabel('rooms').fill('7')
    await page.getByRole('alert').getByText('a red home has fewer than 5 rooms').waitFor()
    expect(await page.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    await page.getByLabel('rooms').fill('3')
    await page.getByRole('button', { name: '+ doors' }).click()
    await page.getByRole('button', { name: '+ Add' }).click()
    await page.locator('[id="field-spec.doors[0].name"]').fill('front')
    await page.locator('button:enabled', { hasText: 'Create' }).click()
    await page.getByRole('tab', { name: 'Form' }).click()
    await page.getByLabel('rooms').fill('4')
    await page.locator('.diff').getByText('+  rooms: 4').waitFor()
    await page.locator('button:enabled', { hasText: 'Save' }).click()
    await page.getByText('Saved').waitFor()
    // The message may still be that of the creation.
    await expect
      .poll(async () => (await env.client.get(Home, { name: 'cottage', namespace: 'default' })).spec)
      .toEqual({ colour: 'red', rooms: 4, doors: [{ name: 'front' }] })
    await page.context().close()
  })

  test('texts of a schema, of columns and of conditions stay texts, and show reordering characters', async () => {
    const markup = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>'
    const reversed = '\u202egnp.exe\u202c'
    const long = 'x'.repeat(30_000)
    const property = { type: 'string', description: `${markup} ${reversed}` }
    const schema = {
      type: 'object',
      description: markup,
      properties: {
        spec: { type: 'object', properties: { '<b>field</b>': property, text: { type: 'string' } } },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    }
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'hostiles.evil.example' },
      spec: {
        group: 'evil.example',
        scope: 'Namespaced',
        names: { plural: 'hostiles', kind: 'Hostile', singular: 'hostile', listKind: 'HostileList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
            subresources: { status: {} },
            additionalPrinterColumns: [
              { name: '<i>Text</i>', type: 'string', description: markup, jsonPath: '.spec.text' },
            ],
          },
        ],
      },
    }
    const post = (path: string, body: unknown) =>
      env.client.rest.json({ method: 'POST', path, body: JSON.stringify(body) })
    await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
    const path = '/apis/evil.example/v1/namespaces/default/hostiles'
    const annotations = { 'a/reversed': reversed, 'a/long': long }
    const object = {
      apiVersion: 'evil.example/v1',
      kind: 'Hostile',
      metadata: { name: 'hostile', labels: { label: 'L'.repeat(63) }, annotations },
      spec: { '<b>field</b>': markup, text: `${markup}${reversed}` },
    }
    await expect
      .poll(() =>
        post(path, object).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    const conditions = [{ type: 'Ready', status: 'False', reason: markup, message: `${markup}${reversed}${long}` }]
    await env.client.rest.json({
      method: 'PATCH',
      path: `${path}/hostile/status`,
      body: JSON.stringify({ status: { conditions } }),
      contentType: 'application/merge-patch+json',
    })
    const page = await env.open('#/table/evil.example/v1/hostiles')
    await page.getByRole('columnheader', { name: '<i>Text</i>' }).waitFor()
    await page.getByRole('gridcell', { name: `${markup}⟨U+202E⟩gnp.exe⟨U+202C⟩` }).waitFor()
    const hostile = '#/object/evil.example/v1/hostiles/default/hostile'
    await show(page, hostile)
    await page.locator('.panel').getByText(`${markup}⟨U+202E⟩`).first().waitFor()
    await show(page, `${hostile}?tab=yaml`)
    await page.locator('.line', { hasText: '⟨U+202E⟩gnp.exe' }).first().waitFor()
    // An edit must keep the characters of the object.
    await show(page, `${hostile}?tab=edit`)
    await page.getByRole('textbox', { name: 'YAML' }).waitFor()
    await show(page, `${hostile}?tab=form`)
    await page.getByText(`${markup} ⟨U+202E⟩`).first().waitFor()
    // A long text must not make the page wider than the window.
    for (const tab of ['summary', 'yaml', 'history']) {
      await show(page, `${hostile}?tab=${tab}`)
      await page.locator(`#tab-${tab}[aria-selected=true]`).waitFor()
      expect(await page.evaluate<boolean>('document.body.scrollWidth <= innerWidth')).toBe(true)
    }
    expect(await page.locator('main img, main script, main b, main i').count()).toBe(0)
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false)
    await page.context().close()
  })
})
