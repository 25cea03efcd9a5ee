// `npm run docs -- measure`: accessibility, transferred bytes and first contentful paint of three pages in Chromium.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import type { Site } from './build-site.ts'

const measured = ['index.html', 'guides/troubleshooting.html', 'reference/api/kubewright.html']
const rounds = 5

/** Serves the site compressed, as a web server would, and prints a row of figures for each page. */
export async function measureSite(site: Site, types: Readonly<Record<string, string>>): Promise<void> {
  let sent = 0
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').slice(1)
    const body = gzipSync(site.files.get(name) ?? '')
    sent += body.length
    response.writeHead(200, { 'content-type': types[extname(name)] ?? 'text/plain', 'content-encoding': 'gzip' })
    response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  try {
    console.log(
      '| page | axe violations | rules passed | transferred | first contentful paint |\n|---|---|---|---|---|',
    )
    for (const path of measured) {
      let best = Number.POSITIVE_INFINITY
      let bytes = 0
      let violations = 0
      let passes = 0
      for (let round = 0; round < rounds; round++) {
        // A new context has an empty cache.
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
        const page = await context.newPage()
        sent = 0
        await page.goto(address + path, { waitUntil: 'networkidle' })
        bytes = sent
        const paint = await page.evaluate<number | undefined>(
          `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`,
        )
        best = Math.min(best, paint ?? Number.POSITIVE_INFINITY)
        if (round === 0) {
          await page.evaluate(axe)
          const found = await page.evaluate<[number, number]>(
            `axe.run().then(({ violations, passes }) => [violations.length, passes.length])`,
          )
          ;[violations, passes] = found
        }
        await context.close()
      }
      console.log(
        `| ${path} | ${violations} | ${passes} | ${(bytes / 1024).toFixed(1)} KiB | ${best.toFixed(0)} ms, best of ${rounds} |`,
      )
    }
  } finally {
    await browser.close()
    server.close()
  }
}
