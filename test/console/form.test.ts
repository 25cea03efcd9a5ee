import { crdOf, defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openTestConsole, type TestConsole } from './open-test-console.ts'

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
    const home = await env.client.get(Home, { name: 'cottage', namespace: 'default' })
    expect(home.spec).toEqual({ colour: 'red', rooms: 4, doors: [{ name: 'front' }] })
    await page.context().close()
  })
})
