import { gzipSync } from 'node:zlib'
import { createLogger } from '@kubewright/base'
import { type Console, startConsole } from '@kubewright/console'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildPage } from '../../tools/build-page.ts'
import { noBrowser, openTestBrowser, show, type TestBrowser } from './open-test-browser.ts'

if (noBrowser !== undefined) console.log(`Browser tests of hostile recordings are skipped: ${noBrowser}`)

const markup = `<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>`
const link = 'javascript:globalThis.hacked=1'
const reordered = `safe\u202Egnp.exe\u202C`
const huge = 'W'.repeat(2 * 1024 * 1024)
const nested = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`) as unknown
const startedAt = Date.UTC(2030, 0, 1)
const maps = { group: '', version: 'v1', plural: 'configmaps' }
const pods = { group: '', version: 'v1', plural: 'pods' }
const evil = { group: `${markup}.example`, version: 'v1', plural: '../../evil' }

const header = {
  format: 'kubewright-recording',
  version: 1,
  startedAt,
  cluster: markup,
  kinds: [
    { ...maps, kind: 'ConfigMap', namespaced: true, verbs: ['list'], shortNames: ['cm'], subresources: [] },
    { ...pods, kind: 'Pod', namespaced: true, verbs: 'list', shortNames: 7 },
    { ...evil, kind: markup, namespaced: true, verbs: [], custom: true },
    { plural: 5 },
    'kind',
  ],
  columns: [
    { resource: maps, columns: [{ name: markup, type: reordered, priority: 'first' }, { name: 'Data' }, null] },
    { resource: 'none', columns: 7 },
  ],
  marks: [
    { time: startedAt + 1, actor: markup, text: `${markup} ${reordered}`, source: link },
    { time: 'yesterday', text: 'x' },
  ],
  operators: [
    {
      name: markup,
      controllers: [
        { name: markup, kind: link, ready: 'many', problems: [markup], keys: [{ key: markup, time: -1e300 }] },
      ],
      caches: [{ kind: markup, objects: markup }],
      missingAccess: [markup, 7],
      reconciles: [
        {
          controller: markup,
          key: reordered,
          id: 'r1',
          startedAt: 'never',
          durationMillis: 1e308,
          result: markup,
          error: markup,
          stack: link,
          causes: [{ event: markup, object: markup, paths: [markup], by: [markup] }],
          log: [{ time: 'now', level: markup, message: markup, values: { a: 1 } }],
          requests: [{ method: markup, path: link, durationMillis: null, error: markup }],
        },
      ],
      calls: [{ path: markup, message: markup, error: markup, allowed: 'maybe' }],
    },
    null,
  ],
}

const state = (resource: object, name: string, object: object, time = 1, cells: unknown = [markup, { a: 1 }]) => ({
  resource,
  uid: `uid ${name} ${JSON.stringify(resource)}`.slice(0, 200),
  namespace: 'default',
  name,
  time: startedAt + time,
  row: { cells },
  object: { apiVersion: 'v1', metadata: { name, namespace: 'default' }, ...object },
})

const lines = [
  header,
  state(maps, 'markup', {
    kind: 'ConfigMap',
    metadata: {
      name: 'markup',
      namespace: 'default',
      uid: markup,
      creationTimestamp: markup,
      labels: { [markup]: markup, [reordered]: link, __proto__: 'x', constructor: 'y' },
      annotations: { huge },
      finalizers: [markup],
      ownerReferences: [{ kind: markup, name: link, apiVersion: `${link}/v1`, uid: 'none', controller: 'yes' }],
      managedFields: [
        { manager: markup, operation: markup, time: markup, fieldsV1: { 'f:data': { [`f:${markup}`]: 5 } } },
      ],
    },
    data: { page: markup, [link]: reordered },
    status: { conditions: [{ type: markup, status: markup, reason: link, message: `${markup}${reordered}` }] },
  }),
  state(maps, 'markup', { kind: 'ConfigMap', data: { page: `${markup}2`, huge, nested } }, 2),
  state(maps, 'types', {
    kind: 'ConfigMap',
    metadata: { name: 'types', labels: [markup], annotations: 7, finalizers: 'x', ownerReferences: { a: markup } },
    status: { conditions: { type: markup } },
    spec: { replicas: 'many' },
    data: nested,
  }),
  state(pods, 'containers', {
    kind: 'Pod',
    spec: { containers: { name: markup }, initContainers: [{ name: { a: 1 }, ports: 'http' }, null] },
    status: { containerStatuses: markup },
  }),
  state(evil, markup, { kind: markup }, 3, 'cells'),
]
const file = (all: readonly unknown[]): Buffer => gzipSync(all.map((line) => `${JSON.stringify(line)}\n`).join(''))

describe.skipIf(noBrowser !== undefined)('a hostile recording', { timeout: 180_000 }, () => {
  let browser: TestBrowser
  let web: Console
  let page: Page
  const failures: string[] = []
  const log = createLogger({ enabled: () => false, write: () => undefined })

  beforeAll(async () => {
    browser = openTestBrowser()
    web = await startConsole({ recording: file(lines), page: await buildPage(), log })
    page = await browser.browse(web)
    page.on('dialog', (dialog) => {
      failures.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => failures.push(`error ${error.message}`))
    page.on('request', (request) => {
      if (!request.url().startsWith('http://127.0.0.1:')) failures.push(`request ${request.url().slice(0, 100)}`)
    })
    await page.evaluate(`globalThis.violations = 0
      document.addEventListener('securitypolicyviolation', () => violations++)`)
  })
  afterAll(async () => {
    await web?.[Symbol.asyncDispose]()
    await browser?.[Symbol.asyncDispose]()
  })

  test('is shown as text in every view, and runs nothing', async () => {
    const tabs = ['summary', 'yaml', 'graph', 'events', 'history', 'logs', 'edit', 'exec']
    const object = (resource: typeof maps, name: string, tab: string): string => {
      const { group, version, plural } = resource
      return `#/object/${[group || 'core', version, plural, 'default', name].map(encodeURIComponent).join('/')}?tab=${tab}`
    }
    const routes = [
      '#/story',
      '#/operators',
      '#/changes',
      '#/table/core/v1/configmaps',
      '#/table/core/v1/pods',
      `#/table/${[evil.group, evil.version, evil.plural].map(encodeURIComponent).join('/')}`,
      ...tabs.map((tab) => object(maps, 'markup', tab)),
      ...tabs.map((tab) => object(maps, 'types', tab)),
      ...tabs.map((tab) => object(pods, 'containers', tab)),
      object(evil, markup, 'yaml'),
      '#/object/%E0%A4%A/v1/x/y/z',
      '#/table/core/v1/%E0%A4%A',
    ]
    for (const route of routes) {
      await show(page, route)
      // Two frames: the view is drawn, and its first update too.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      expect(await page.getByText('This view cannot be drawn').count(), route).toBe(0)
    }
    await show(page, '#/story')
    await page.getByText(markup).first().waitFor()
    await page.getByText('safe⟨U+202E⟩gnp.exe⟨U+202C⟩').first().waitFor()
    // The slider and the filters still work.
    await page.getByRole('button', { name: 'One change back' }).click()
    await show(page, '#/changes')
    await page.getByLabel('Filter rows').fill('[')
    await page.getByLabel('Filter rows').fill('markup')
    await page.getByRole('row').filter({ hasText: 'default/markup' }).first().waitFor()
    expect(await page.locator('img, iframe, object, script:not([src]), b, [href^="javascript"]').count()).toBe(0)
    expect(await page.evaluate('[globalThis.hacked, violations]')).toEqual([undefined, 0])
    expect(failures).toEqual([])
  })

  test('that is broken is refused with the reason', async () => {
    const whole = file(lines)
    const cases: readonly [Uint8Array, RegExp][] = [
      [whole.subarray(0, whole.length / 2), /cannot be read: it cannot be expanded/],
      [Buffer.from('not a file'), /cannot be read: it cannot be expanded: incorrect header check/],
      [gzipSync(''), /cannot be read: it is empty/],
      [file([{ ...header, version: 99 }]), /it has version 99, but this console reads 1/],
      [file([header, { ...lines[1], time: 'x' }]), /line 2 is not a state of an object/],
      [file([header, JSON.parse(`${'['.repeat(600)}${']'.repeat(600)}`)]), /nested more than 500 levels/],
      // 80 KB that expand to 80 MB of one line.
      [gzipSync(`${JSON.stringify(header)}\n"${'a'.repeat(80 * 1024 * 1024)}`), /a line is longer than 64 MiB/],
    ]
    for (const [recording, reason] of cases)
      await expect(startConsole({ recording, log, page: {} })).rejects.toThrow(reason)
  })
})
