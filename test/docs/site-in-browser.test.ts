// The built site in a browser: accessibility, search, types in code, versions, themes and size.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { runInThisContext } from 'node:vm'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildSite, sizeOf } from '../../tools/site/build-site.ts'
import { writeVersion } from '../../tools/site/write-site.ts'

const root = join(import.meta.dirname, '..', '..')
const executablePath = '/usr/bin/chromium'
const hasBrowser = existsSync(executablePath)
if (!hasBrowser) console.log(`The site is not shown: ${executablePath} is missing`)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const types: Record<string, string> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
}

function fileIn(folder: string, name: string): Buffer | undefined {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file) : undefined
}

async function violationsOf(page: Page): Promise<string[]> {
  await page.addScriptTag({ content: axe })
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
  })
}

describe('the site', () => {
  let site: Awaited<ReturnType<typeof buildSite>>
  let server: Server
  let browser: Browser | undefined
  let address: string
  const versions = mkdtempSync(join(tmpdir(), 'kubewright-versions-'))

  beforeAll(async () => {
    site = await buildSite(root)
    runInThisContext(site.files.get('search.js') as string)
    const versioned = await buildSite(root, '0.1')
    for (const version of ['0.1', '0.10', '0.9']) {
      const renamed = [...versioned.files].map(
        ([name, content]) =>
          [
            name,
            typeof content === 'string'
              ? content.replaceAll('data-version="0.1"', `data-version="${version}"`)
              : content,
          ] as const,
      )
      const files = new Map(version === '0.9' ? renamed.filter(([name]) => name !== 'start/install.html') : renamed)
      writeVersion({ files, problems: [] }, versions, version)
    }
    server = createServer((request, response) => {
      const name = (request.url ?? '/').slice(1)
      const content = site.files.get(name) ?? fileIn(versions, name)
      response.writeHead(content === undefined ? 404 : 200, {
        'content-type': `${types[extname(name)]}; charset=utf-8`,
      })
      response.end(content)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    if (hasBrowser) browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    server.close()
    rmSync(versions, { recursive: true })
  })

  async function open(path: string, colorScheme: 'light' | 'dark' = 'light', width = 1280): Promise<Page> {
    const page = await browser!.newPage({ viewport: { width, height: 900 }, colorScheme })
    await page.goto(address + path)
    return page
  }

  test('has no problems and at most 15 MB', () => {
    expect(site.problems).toEqual([])
    expect(sizeOf(site.files)).toBeLessThan(15_000_000)
  })

  test.skipIf(!hasBrowser).each([
    ['index.html', 'light', 1280],
    ['start/five-minutes.html', 'dark', 1280],
    ['concepts/write-path.html', 'light', 400],
    ['reference/errors.html', 'dark', 400],
    ['ru/tutorials/home.html', 'light', 1280],
  ] as const)('%s in %s at %i pixels violates no accessibility rule', async (path, theme, width) => {
    const page = await open(path, theme, width)
    expect(await violationsOf(page)).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect(overflow).toBeLessThanOrEqual(0)
    await page.close()
  })

  test.each([
    ['helm', 'guides/packaging.html#helm'],
    ['console', 'guides/console.html'],
    ['webhook', 'guides/webhooks.html'],
    ['simulate', 'guides/simulating.html'],
    ['finalizer', 'concepts/finalizers-and-gc.html'],
    ['leader election', 'concepts/leader-election-and-sharding.html'],
    ['hot loop', 'guides/debugging.html#hot-loops'],
    ['install', 'start/install.html'],
    ['rbac', 'guides/rbac.html'],
    ['kubebuilder', 'guides/from-kubebuilder.html'],
    ['read your writes', 'concepts/read-your-writes.html'],
    ['events', 'guides/events.html'],
    ['upgrade', 'guides/upgrading.html'],
    ['error codes', 'reference/errors.html'],
    ['admision', 'concepts/admission.html'],
    ['KW_API', 'reference/errors.html#kw_api'],
  ])('the search for "%s" finds %s first', (query, address) => {
    const { kubewrightSearch } = globalThis as unknown as {
      kubewrightSearch: { search(query: string, language: string): { address: string }[] }
    }
    expect(kubewrightSearch.search(query, 'en')[0]?.address).toBe(address)
  })

  test.skipIf(!hasBrowser)('finds a page by keyboard and switches the theme', async () => {
    const page = await open('index.html')
    await page.keyboard.press('/')
    await page.keyboard.type('hot loop')
    await page.locator('#found li').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/guides|reference|concepts/)
    await page.locator('button.theme').click()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.reload()
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await page.close()
  })

  test.skipIf(!hasBrowser)('shows the type of a name to pointer and keyboard', async () => {
    const page = await open('start/five-minutes.html')
    const tip = page.locator('#tip')
    await page
      .locator('[data-hint]', { hasText: /^defineResource$/ })
      .first()
      .hover()
    await tip.getByText('Defines a custom resource').waitFor()
    await page.keyboard.press('Escape')
    expect(await tip.isVisible()).toBe(false)
    await page.locator('pre:has([data-hint])').first().focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowRight')
    await tip.getByText('Infer').waitFor()
    expect(await page.locator('[aria-describedby="tip"]').textContent()).toBe('Infer')
    expect(await violationsOf(page)).toEqual([])
    await page.close()
  })

  test.skipIf(!hasBrowser)('leads from a page of an old version to the same page of the newest', async () => {
    const page = await open('0.1/start/install.html')
    await page.locator('.old a').waitFor()
    expect(await violationsOf(page)).toEqual([])
    await page.locator('.old a').click()
    await page.waitForURL(/\/0\.10\/start\/install\.html$/)
    expect(await page.locator('.old').count()).toBe(0)
    await page.locator('.versions summary').click()
    await page.locator('.versions a', { hasText: '0.9' }).click()
    // This version does not have the page.
    await page.waitForURL(/\/0\.9\/index\.html$/)
    await page.close()
  })
})
