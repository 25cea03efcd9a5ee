import { systemClock } from '@kubewright/base'
import { ConfigMap, Deployment, Secret } from '@kubewright/k8s'
import {
  ActivityTracer,
  createManager,
  type DebugReport,
  debugReport,
  defineController,
  defineOperator,
  noTracer,
  traceRequests,
} from '@kubewright/runtime'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, openTestConsole, realCluster, type TestConsole } from './open-test-console.ts'

if (noBrowser !== undefined) console.log(`The walk through the console is skipped: ${noBrowser}`)

const web = Deployment({
  metadata: { name: 'walk' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'walk' } },
    template: { metadata: { labels: { app: 'walk' } }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } },
  },
})

/** The focused element. */
interface Stop {
  /** Its accessible name, roughly. */
  readonly name: string
  /** The part of the page: header, nav, main, section (the time line), dialog, or empty. */
  readonly part: string
  /** Whether it is in the window, with an outline. */
  readonly isVisible: boolean
}

// As text: it runs in the page.
const focused = `(() => {
  const element = document.activeElement ?? document.body
  const { width, height, top, bottom } = element.getBoundingClientRect()
  const { outlineStyle } = getComputedStyle(element)
  const name = element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent ?? ''
  const part = element.closest('dialog, header, aside, nav, main, section.time-bar')?.localName ?? ''
  const isVisible = width > 0 && height > 0 && bottom > 0 && top < innerHeight && outlineStyle !== 'none'
  return { name: name.trim().slice(0, 60), part, isVisible }
})()`

describe.skipIf(noBrowser !== undefined)('the console without a mouse', { timeout: 300_000 }, () => {
  let env: TestConsole
  let page: Page
  const stop = new AbortController()
  let running: Promise<void> | undefined

  const now = (): Promise<Stop> => page.evaluate<Stop>(focused)
  const press = (...keys: string[]): Promise<void> =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve())

  /** Presses Tab until an element has the focus. Every stop on the way must be visible. */
  async function tabTo(isWanted: (stop: Stop) => boolean, most = 60): Promise<Stop[]> {
    const stops: Stop[] = []
    for (;;) {
      await press('Tab')
      const reached = await now()
      stops.push(reached)
      if (isWanted(reached)) return stops
      expect(stops.length, JSON.stringify(stops.map(({ name }) => name))).toBeLessThan(most)
      // Between the last element and the first one, the window itself has the focus.
      if (reached.part !== '') expect(reached).toMatchObject({ isVisible: true })
    }
  }
  const named =
    (name: string | RegExp) =>
    (one: Stop): boolean =>
      typeof name === 'string' ? one.name === name : name.test(one.name)

  /** Goes to a view by the palette. */
  async function goTo(typed: string, heading: string): Promise<void> {
    await press('Control+k')
    await page.keyboard.insertText(typed)
    await press('Enter')
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    await expect.poll(async () => (await now()).part, { message: typed }).toBe('main')
  }

  /** Checks the accessibility of the view in both colours. */
  async function inspect(view: string): Promise<void> {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      // The other rules do not depend on the colours.
      const rules = colorScheme === 'dark' ? `{ runOnly: ['color-contrast'] }` : '{}'
      const violations = await page.evaluate<string[]>(`axe.run(document, ${rules}).then(({ violations }) =>
        violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`)
      expect(violations, `${view} in ${colorScheme} colours`).toEqual([])
    }
  }
  /** Presses Tab until the focus leaves the view, which must not keep it. */
  const leaveView = (): Promise<Stop[]> => tabTo(({ part }) => part !== 'main', 400)

  beforeAll(async () => {
    const copies = defineController(ConfigMap, {
      name: 'copies',
      reconcile: async ({ metadata, data }, { client, log }) => {
        if (!metadata.name.startsWith('walk')) return
        log.info('Copying')
        await client.apply(Secret({ metadata: { name: metadata.name }, stringData: { copied: data?.['a'] ?? '' } }))
      },
    })
    let report: () => DebugReport
    let control: (controller: string, command: 'pause' | 'step' | 'resume') => void
    const operators = [
      {
        name: 'copier',
        report: async () => JSON.parse(JSON.stringify(report())) as DebugReport,
        control: async (...command: Parameters<typeof control>) => control(...command),
      },
    ]
    env =
      realCluster === undefined
        ? await openTestConsole(({ levers }) => ({ operators, levers }), { levers: true })
        : await openTestConsole({ operators })
    const tracer = new ActivityTracer(noTracer, systemClock)
    const manager = createManager({
      operator: defineOperator({ name: 'copier', controllers: [copies] }),
      client: await env.connect({ around: traceRequests(tracer) }),
      tracer,
    })
    report = () => debugReport({ manager, clock: systemClock })
    control = (controller, command) => manager.runners.find(({ name }) => name === controller)?.[command]()
    running = manager.start({ signal: stop.signal })
    await manager.elected
    await env.client.apply(web, { fieldManager: 'kubectl' })
    page = await env.open()
    await page.evaluate((await import('axe-core')).default.source)
    await env.client.apply(ConfigMap({ metadata: { name: 'walk-1' }, data: { a: '1' } }), { fieldManager: 'kubectl' })
  })
  afterAll(async () => {
    stop.abort()
    await running
    await env?.[Symbol.asyncDispose]()
  })

  test('Tab leads through header, kinds, view and time line, and back to the start', async () => {
    await goTo('cm', 'ConfigMap')
    await page.getByRole('row').filter({ hasText: 'walk-1' }).waitFor()
    await inspect('table')
    const order = ['', 'header', 'aside', 'nav', 'main', 'section']
    await tabTo(named('Skip to the view'))
    const stops = await tabTo(named('Skip to the view'), 200)
    const parts = stops.slice(0, -1).map(({ part }) => order.indexOf(part))
    // The window has the focus once, at the end.
    const [last] = parts.splice(-1)
    expect(last === 0 || last === 5).toBe(true)
    expect(parts).toEqual(parts.toSorted((a, b) => a - b))
    const names = stops.map(({ name }) => name)
    for (const name of [
      'Namespace',
      'Go to… Ctrl+K',
      'Keyboard shortcuts',
      'Theme',
      'Language',
      'Operators',
      'Changes',
    ])
      expect(names).toContain(name)
    for (const name of ['Filter rows', 'Label selector', 'Field selector', 'All columns', 'Create', 'ConfigMap'])
      expect(names).toContain(name)
    for (const name of ['One change back', 'Moment of the recording', 'Now', 'Export']) expect(names).toContain(name)
    await press('Enter')
    expect((await now()).name).toBe('ConfigMap')
  })

  test('dialogs keep the focus, and Escape and their buttons give it back', async () => {
    const before = await now()
    await press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await inspect('help')
    await press('Escape')
    expect(await now()).toEqual(before)
    await press('Control+k')
    await page.getByRole('dialog').waitFor()
    await inspect('palette')
    for (let index = 0; index < 4; index++) {
      await press('Tab')
      expect((await now()).part).toMatch(/^(dialog|)$/)
    }
    await press('Escape')
    expect(await now()).toEqual(before)
  })

  test('a row is filtered, opened and edited, and Escape leads back to it', async () => {
    await press('/')
    await page.keyboard.insertText('walk-1')
    await page.getByText(/^1 of \d+$/).waitFor()
    await press('Escape')
    expect((await now()).name).toBe('ConfigMap')
    await press('ArrowDown', 'Enter')
    await page.getByRole('tab', { name: 'Summary', selected: true }).waitFor()
    await expect.poll(async () => (await now()).name).toBe('Summary')
    await press('e')
    const editor = page.getByRole('textbox', { name: 'YAML' })
    await editor.waitFor()
    await tabTo(named('YAML'))
    const yaml = (await editor.inputValue()).replace(/a: ['"]1['"]/, 'a: "2"')
    await press('Control+a')
    await page.keyboard.insertText(yaml)
    await tabTo(named('Review changes'))
    await press('Enter')
    await page.getByRole('button', { name: 'Take over' }).waitFor()
    await inspect('conflict')
    await tabTo(named('Take over'))
    await press('Enter')
    await page.locator('.diff .added').waitFor()
    await inspect('edit')
    await press('Shift+Tab', 'Shift+Tab')
    expect((await now()).name).toBe('Save')
    await press('Enter')
    await page.getByText('Saved').waitFor()
    expect((await env.client.get(ConfigMap, 'walk-1')).data).toEqual({ a: '2' })
    await tabTo(named('Delete'), 120)
    await press('Enter')
    await page.getByRole('dialog').waitFor()
    await inspect('delete')
    await tabTo(named('Cancel'))
    await press('Enter')
    await expect.poll(now).toMatchObject({ name: 'Delete', isVisible: true })
    await press('Escape')
    await page.locator('.row.selected', { hasText: 'walk-1' }).waitFor()
    expect((await now()).name).toBe('ConfigMap')
  })

  test('every tab of an object is reached by arrow keys', async () => {
    const kinds = [
      ['deploy', 'Deployment', ['Summary', 'YAML', 'Owners', 'Events', 'History', 'Access', 'Form', 'Edit']],
      ['po', 'Pod', ['Summary', 'YAML', 'Owners', 'Events', 'Logs', 'Exec', 'Ports', 'History', 'Access']],
    ] as const
    const seen = new Set<string>()
    for (const [typed, kind, tabs] of kinds) {
      await goTo(typed, kind)
      await press('/')
      await page.keyboard.insertText('walk')
      await page.getByRole('row').filter({ hasText: 'walk' }).first().waitFor()
      await press('Escape', 'ArrowDown', 'Enter')
      await expect.poll(async () => (await now()).name).toBe('Summary')
      for (const tab of tabs) {
        if (tab !== 'Summary') await press('ArrowRight')
        await page.getByRole('tab', { name: tab, selected: true }).waitFor()
        expect(await now()).toMatchObject({ name: tab, isVisible: true })
        if (seen.has(tab)) continue
        seen.add(tab)
        await page.getByText('Loading…').waitFor({ state: 'detached' })
        await inspect(`${kind} ${tab}`)
        await leaveView()
        await tabTo(named('Skip to the view'))
        await press('Enter')
      }
    }
  })

  test('a form creates an object, and the focus follows its sections', async () => {
    await goTo('cm', 'ConfigMap')
    await press('Shift+Tab')
    expect((await now()).name).toBe('Create')
    await press('Enter')
    const create = page.getByRole('button', { name: 'Create' })
    await page.getByRole('textbox', { name: 'name *' }).waitFor()
    await tabTo(({ name }) => name.startsWith('name'))
    await page.keyboard.insertText('walk-2')
    await tabTo(named('+ data'))
    await press('Enter')
    await expect.poll(async () => (await now()).name).toBe('Add a key data')
    await page.keyboard.insertText('a')
    await press('Enter')
    await tabTo(named('Remove data'), 200)
    await inspect('form')
    await expect.poll(() => create.isEnabled()).toBe(true)
    await tabTo(named('Create'), 200)
    await press('Enter')
    await page.getByRole('tab', { name: 'Summary', selected: true }).waitFor()
    await expect.poll(async () => (await now()).name).toBe('Summary')
  })

  test('the operator, its reconciles and its levers are used by keys', async () => {
    await press('Control+k')
    await page.keyboard.insertText('operators')
    await press('Enter')
    await page.getByRole('heading', { name: 'copier' }).waitFor()
    await inspect('operator')
    await expect.poll(async () => (await now()).part).toBe('main')
    if (realCluster === undefined) {
      await tabTo(named('Pause'))
      await press('Enter')
      const banner = page.getByRole('complementary', { name: 'Levers' })
      await banner.waitFor()
      await inspect('paused operator')
      await expect.poll(now).toMatchObject({ name: 'Resume', part: 'main', isVisible: true })
      await press('Enter')
      await banner.waitFor({ state: 'detached' })
    }
    // A lever of the operator needs no simulated cluster, but the console must offer levers.
    else expect(await page.getByRole('button', { name: /^(Pause|Step)$/ }).count()).toBe(0)
    await tabTo(named(/^Requests: /), 120)
    await press('Enter')
    await page
      .getByText(/PATCH .*secrets\/walk/)
      .first()
      .waitFor()
  })

  test('the time line and the comparison of two states are used by keys', async () => {
    await press('Control+k')
    await page.keyboard.insertText('changes')
    await press('Enter')
    await page.getByRole('heading', { name: 'Changes' }).waitFor()
    await inspect('changes')
    await tabTo(named('Moment of the recording'), 300)
    await press('ArrowLeft', 'ArrowLeft')
    await page.locator('.time-bar.past').waitFor()
    await inspect('past')
    await tabTo(named('Now'))
    await press('Enter')
    await page.locator('.time-bar:not(.past)').waitFor()
    await goTo('cm', 'ConfigMap')
    await press('/')
    await page.keyboard.insertText('walk-1')
    await page.getByText(/^1 of \d+$/).waitFor()
    await press('Escape', 'ArrowDown', 'Enter')
    await page.getByRole('tab', { name: 'History' }).waitFor()
    while ((await now()).name !== 'History') await press('ArrowRight')
    await page.getByRole('heading', { name: /^From change/ }).waitFor()
    await tabTo(named(/^Compare from change/))
    const from = (await now()).name
    await press('ArrowUp')
    await expect.poll(async () => (await now()).name).not.toBe(from)
    await page.getByText('No difference').waitFor()
  })

  test('theme and language are chosen by keys', async () => {
    await tabTo(named('Skip to the view'), 80)
    await tabTo(named('Theme'))
    await press('ArrowDown', 'ArrowDown')
    await expect.poll(() => page.locator('html').getAttribute('data-theme')).toBe('dark')
    await press('Tab', 'End')
    await page.locator('html[lang=ru]').waitFor()
    expect(await now()).toMatchObject({ name: 'Язык', isVisible: true })
  })
})
