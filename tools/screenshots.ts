// `npm run screenshots`: runs the demo's Home operator, opens the console in Chromium and writes the pictures of the
// documentation to docs/pictures. With a folder as argument, writes every view there instead: light, dark and narrow.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { Deployment } from '@kubewright/k8s'
import { type Browser, chromium, type Page } from 'playwright-core'
import { Home } from '../examples/home/src/home.ts'
import { homeOperator } from '../examples/home/src/operator.ts'
import { openDemoConsole } from './demo-console.ts'
import { applyFile, openStage } from './demo-stage.ts'

const root = join(import.meta.dirname, '..')
const [folder] = process.argv.slice(2)
const target = folder ?? join(root, 'docs', 'pictures')

/** A picture: where the page goes, and what must be visible before it is taken. */
interface View {
  readonly name: string
  readonly route: string
  readonly prepare?: (page: Page) => Promise<void>
}

const home = 'object/ajd.my.domain/v1/homes/default/home-sample'
const deployment = 'object/apps/v1/deployments/default/home-sample'
const inDocs = new Set(['owners', 'operators', 'form', 'history', 'levers'])
const views: readonly View[] = [
  {
    name: 'owners',
    route: `#/${home}?tab=graph`,
    prepare: async (page) => page.locator('.node', { hasText: 'Pod' }).nth(2).waitFor(),
  },
  { name: 'table', route: '#/table/core/v1/pods' },
  { name: 'summary', route: `#/${home}` },
  { name: 'yaml', route: `#/${deployment}?tab=yaml` },
  {
    name: 'operators',
    route: '#/operators',
    prepare: async (page) =>
      page
        .getByText(/Requests: \d+, writes: \d+/)
        .first()
        .waitFor(),
  },
  {
    name: 'form',
    route: '#/new/ajd.my.domain/v1/homes',
    prepare: async (page) => {
      await page.getByLabel('name *', { exact: true }).fill('Cottage')
      await page.getByRole('button', { name: '+ spec' }).click()
      await page.getByText('RFC 1123').first().waitFor()
    },
  },
  {
    name: 'history',
    route: `#/${deployment}?tab=history`,
    prepare: async (page) => page.getByRole('region', { name: 'Compare' }).waitFor(),
  },
  { name: 'changes', route: '#/changes' },
  {
    name: 'levers',
    route: '#/operators',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Pause' }).first().click()
      await page.getByRole('button', { name: 'Resume' }).first().waitFor()
    },
  },
]

const stage = await openStage(join(root, '.kubewright', 'screenshots.kubeconfig'))
const operator = homeOperator({ point: async () => undefined, release: async () => undefined })
await stage.install(operator)
await stage.start(operator)
const web = await openDemoConsole(stage)
let browser: Browser | undefined
try {
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  const looks =
    folder === undefined
      ? [look('', 'light', 1280)]
      : [look('-light', 'light', 1280), look('-dark', 'dark', 1280), look('-narrow', 'light', 420)]
  const pages: Page[] = []
  for (const { scheme, width } of looks) pages.push(await open(browser, scheme, width))
  const [first] = pages
  // The operator records its requests only while a page shows it.
  if (first) await go(first, '#/operators')
  await play()
  mkdirSync(target, { recursive: true })
  for (const view of views) {
    if (folder === undefined && !inDocs.has(view.name)) continue
    for (const [index, page] of pages.entries()) {
      await go(page, view.route)
      // The first page has prepared what all of them show.
      if (view.name !== 'levers' || index === 0) await view.prepare?.(page)
      await page.evaluate('document.activeElement?.blur()')
      await systemClock.sleep(600)
      await page.screenshot({ path: join(target, `console-${view.name}${looks[index]?.suffix ?? ''}.png`) })
    }
  }
} finally {
  await browser?.close()
  await web[Symbol.asyncDispose]()
  await stage[Symbol.asyncDispose]()
}

function look(suffix: string, scheme: 'light' | 'dark', width: number) {
  return { suffix, scheme, width }
}

async function open(chrome: Browser, colorScheme: 'light' | 'dark', width: number): Promise<Page> {
  const context = await chrome.newContext({ colorScheme, viewport: { width, height: 800 }, locale: 'en' })
  const page = await context.newPage()
  await page.goto(web.createLink())
  await page.getByText('Live').waitFor()
  return page
}

async function go(page: Page, route: string): Promise<void> {
  await page.evaluate((hash) => {
    ;(globalThis as unknown as { location: { hash: string } }).location.hash = hash
  }, route)
}

/** A Home is created and scaled, and a manual change of its Deployment is reverted. */
async function play(): Promise<void> {
  const client = stage.plane.client()
  await applyFile(client, readFileSync(join(root, 'examples/home/samples/home-sample.yaml'), 'utf8'), () => undefined)
  const isReady = async (replicas: number): Promise<void> => {
    for (;;) {
      const { status } = await client.get(Home, 'home-sample')
      if (status?.readyReplicas === replicas) return
      await systemClock.sleep(100)
    }
  }
  await isReady(2)
  await client.patch(Home, 'home-sample', { spec: { replicas: 3 } })
  await isReady(3)
  await client.patch(Deployment, 'home-sample', { spec: { replicas: 5 } }, { fieldManager: 'kubectl' })
  await systemClock.sleep(2000)
  await isReady(3)
}
