import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AsyncDisposer, nullLogger } from '@kubewright/base'
import { startConsole } from '@kubewright/console'
import { Deployment } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { Home } from '../../examples/home/src/home.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { buildPage } from '../../tools/build-page.ts'
import { openDemoConsole } from '../../tools/demo-console.ts'
import { applyFile, openStage } from '../../tools/demo-stage.ts'
import { noBrowser, openTestBrowser, show } from './open-test-browser.ts'

if (noBrowser !== undefined) console.log(`The test of the demo in the console is skipped: ${noBrowser}`)

const sample = join(import.meta.dirname, '../../examples/home/samples/home-sample.yaml')
const home = '#/object/ajd.my.domain/v1/homes/default/home-sample'
const deployment = '#/object/apps/v1/deployments/default/home-sample'

test.skipIf(noBrowser !== undefined)(
  'the console shows the demo: creation, scaling, a reverted change, a denial and deletion, also from its recording',
  { timeout: 300_000 },
  async () => {
    const disposer = new AsyncDisposer()
    const folder = mkdtempSync(join(tmpdir(), 'console-demo-'))
    try {
      const stage = disposer.use(await openStage(join(folder, 'kubeconfig')))
      const operator = homeOperator({ point: async () => undefined, release: async () => undefined })
      await stage.install(operator)
      await stage.start(operator)
      const web = disposer.use(await openDemoConsole(stage))
      const browser = disposer.use(openTestBrowser())
      const client = stage.plane.client()
      // The operators are shown during the whole story, so that they record their webhook calls.
      const operators = await browser.browse(web, '#/operators')
      await operators.getByRole('heading', { name: 'home-operator' }).waitFor()
      const page = await browser.browse(web, '#/table/ajd.my.domain/v1/homes')
      await applyFile(client, readFileSync(sample, 'utf8'), () => undefined)
      await page.getByRole('row').filter({ hasText: 'home-sample' }).waitFor()
      const pods = page.locator('.node', { hasText: 'Pod' })
      await show(page, `${home}?tab=graph`)
      await pods.nth(1).waitFor()
      await client.patch(Home, 'home-sample', { spec: { replicas: 3 } })
      await pods.nth(2).waitFor()

      // The operator restores its Deployment, and the history names both writers.
      await show(page, `${deployment}?tab=history`)
      await client.patch(Deployment, 'home-sample', { spec: { replicas: 5 } }, { fieldManager: 'intruder' })
      await page.getByRole('cell', { name: 'intruder' }).first().waitFor()
      await page.locator('.field', { hasText: 'spec.replicas' }).getByText('5').first().waitFor()
      await expect.poll(async () => (await client.get(Deployment, 'home-sample')).spec?.replicas).toBe(3)

      // The webhook of the operator denies an edit in the page.
      await show(page, `${home}?tab=edit`)
      const editor = page.getByRole('textbox', { name: 'YAML' })
      await editor.waitFor()
      await editor.fill((await editor.inputValue()).replace(/image: .*/, 'image: nginx:latest'))
      await page.getByRole('button', { name: 'Review changes' }).click()
      await page.getByText('conflict with "kubectl"').waitFor()
      await page.getByRole('button', { name: 'Take over' }).click()
      await page.getByText(/denied the request/).waitFor()
      await operators.getByText('denied').first().waitFor()

      await show(page, home)
      await page.getByText('UID').waitFor()
      await client.delete(Home, 'home-sample')
      await page.getByText('The object was deleted').waitFor()
      await expect.poll(async () => client.find(Deployment, 'home-sample'), { timeout: 60_000 }).toBeUndefined()

      const rows = async (changes: typeof page) => {
        await show(changes, '#/changes')
        const found = changes.getByRole('row').filter({ hasText: 'Home default/home-sample' })
        await found.filter({ hasText: 'deleted' }).first().waitFor()
        return found.allInnerTexts()
      }
      const shown = await rows(page)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Export' }).click(),
      ])
      const recording = await readFile(await download.path())
      const again = disposer.use(await startConsole({ recording, page: await buildPage(), log: nullLogger }))
      const opened = await browser.browse(again)
      const recorded = await rows(opened)
      // The reconciles beside the changes may be newer than the export.
      const changes = (texts: readonly string[]): string[] => texts.map((text) => text.split('\t').slice(0, 3).join())
      expect(changes(recorded)).toEqual(changes(shown))
      await show(opened, `${deployment}?tab=history`)
      await opened.getByRole('cell', { name: 'intruder' }).first().waitFor()
      await show(opened, '#/operators')
      await opened.getByText('denied').first().waitFor()
    } finally {
      await disposer[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    }
  },
)
