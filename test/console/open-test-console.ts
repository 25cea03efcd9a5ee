// A control plane with the console on it, and a browser that shows it.
import { existsSync } from 'node:fs'
import { AsyncDisposer, createLogger } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { type Console, type ConsoleSettings, startConsole } from '@kubewright/console'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '@kubewright/controlplane'
import { type Browser, chromium, type Page } from 'playwright-core'
import { buildPage } from '../../tools/build-page.ts'

const executablePath = '/usr/bin/chromium'

/** Why there is no browser for the tests; undefined if there is one. */
export const noBrowser: string | undefined = existsSync(executablePath)
  ? undefined
  : `${executablePath} is missing: install the package chromium`

/** A console on a control plane of its own. */
export interface TestConsole extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly client: ApiClient
  readonly console: Console
  /** Opens the console in a new window, at a route such as `#/operators`. */
  open(route?: string, options?: { readonly colorScheme?: 'light' | 'dark' }): Promise<Page>
  /** Opens another console in a new window. */
  browse(console: Console, route?: string, options?: { readonly colorScheme?: 'light' | 'dark' }): Promise<Page>
}

const log = createLogger({ enabled: () => true, write: (record) => console.error(record) })

/** Starts a control plane with one node, and a console. */
export async function openTestConsole(
  settings: Partial<ConsoleSettings> | ((plane: ControlPlane) => Partial<ConsoleSettings>) = {},
  planeOptions: ControlPlaneOptions = {},
): Promise<TestConsole> {
  const disposer = new AsyncDisposer()
  const plane = disposer.use(await startControlPlane({ nodes: 1, ...planeOptions }))
  const client = plane.client({ isExempt: true })
  const options = typeof settings === 'function' ? settings(plane) : settings
  const page = await buildPage()
  const started = disposer.use(await startConsole({ client, page, log, cluster: 'test', ...options }))
  let browser: Browser | undefined
  const env: TestConsole = {
    plane,
    client,
    console: started,
    open: async (route, look) => env.browse(started, route, look),
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
  return env
}

/** Goes to a route of the page. */
export async function show(page: Page, route: string): Promise<void> {
  await page.evaluate((hash) => {
    ;(globalThis as unknown as { location: { hash: string } }).location.hash = hash
  }, route)
}
