// The built site in a browser: accessibility, search, themes and size.
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildSite, sizeOf } from '../../tools/site/build-site.ts'

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

describe('the site', () => {
  let site: Awaited<ReturnType<typeof buildSite>>
  let server: Server
  let browser: Browser | undefined
  let address: string

  beforeAll(async () => {
    site = await buildSite(root)
    server = createServer((request, response) => {
      const name = (request.url ?? '/').slice(1)
      const content = site.files.get(name)
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
    await page.addScriptTag({ content: axe })
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
      }
      return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
    })
    expect(violations).toEqual([])
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect(overflow).toBeLessThanOrEqual(0)
    await page.close()
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
})
