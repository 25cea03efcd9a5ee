// Chromium, which shows consoles.
import { existsSync } from 'node:fs'
import { AsyncDisposer } from '@kubewright/base'
import type { Console } from '@kubewright/console'
import { type Browser, chromium, type Page } from 'playwright-core'

const executablePath = '/usr/bin/chromium'

/** Why there is no browser for the tests; undefined if there is one. */
export const noBrowser: string | undefined = existsSync(executablePath)
  ? undefined
  : `${executablePath} is missing: install the package chromium`

/** The look of a window. */
export interface Look {
  readonly colorScheme?: 'light' | 'dark'
}

/** A browser. It starts when it is first used. */
export interface TestBrowser extends AsyncDisposable {
  /** Opens a console in a new window, at a route such as `#/operators`. */
  browse(console: Console, route?: string, look?: Look): Promise<Page>
}

export function openTestBrowser(): TestBrowser {
  const disposer = new AsyncDisposer()
  let browser: Browser | undefined
  return {
    async browse(web, route, { colorScheme = 'light' } = {}) {
      if (browser === undefined) {
        // Containers run the tests as root, where Chromium has no sandbox.
        const launched = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
        disposer.defer(() => launched.close())
        browser = launched
      }
      const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 }, locale: 'en' })
      const opened = await context.newPage()
      opened.setDefaultTimeout(60_000)
      await opened.goto(web.createLink())
      await opened.getByText(/^(Live|Recorded)$/).waitFor()
      if (route !== undefined) await show(opened, route)
      return opened
    },
    [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
  }
}

/** Goes to a route of the page. */
export async function show(page: Page, route: string): Promise<void> {
  await page.evaluate((hash) => {
    ;(globalThis as unknown as { location: { hash: string } }).location.hash = hash
  }, route)
}
