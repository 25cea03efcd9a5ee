import { nullLogger, systemClock } from '@kubewright/base'
import { debugAddress } from '@kubewright/console'
import { ConfigMap, Pod, Secret } from '@kubewright/k8s'
import {
  ActivityTracer,
  createManager,
  debugHandler,
  defineController,
  defineOperator,
  noTracer,
  systemHttpListener,
  traceRequests,
} from '@kubewright/runtime'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, noSimulation, openTestConsole, show, type TestConsole } from './open-test-console.ts'

const skipped = noBrowser ?? noSimulation
if (skipped !== undefined) console.log(`Browser tests of the levers are skipped: ${skipped}`)

describe.skipIf(skipped !== undefined)('the levers of the console', { timeout: 180_000 }, () => {
  let env: TestConsole
  let page: Page
  const stop = new AbortController()
  let running: Promise<void> | undefined
  const reconciled: string[] = []

  beforeAll(async () => {
    const copies = defineController(ConfigMap, {
      name: 'copies',
      reconcile: async ({ metadata }, { client }) => {
        reconciled.push(metadata.name)
        if (metadata.name.startsWith('copied'))
          await client.apply(Secret({ metadata: { name: metadata.name }, stringData: { copied: 'yes' } }))
      },
    })
    // The levers reach the operator as they reach any: through its debug address.
    let port = 0
    const operators = [
      {
        name: 'copier',
        report: (signal: AbortSignal) => debugAddress(`http://127.0.0.1:${port}`).report(signal),
        control: async (controller: string, command: 'pause' | 'step' | 'resume') =>
          debugAddress(`http://127.0.0.1:${port}`).control?.(controller, command),
      },
    ]
    env = await openTestConsole(({ levers }) => ({ operators, levers }), { levers: true })
    const tracer = new ActivityTracer(noTracer, systemClock)
    const manager = createManager({
      operator: defineOperator({ name: 'copier', controllers: [copies] }),
      client: await env.connect({ around: traceRequests(tracer) }),
      tracer,
    })
    const handler = debugHandler({ manager, clock: systemClock })
    const listening = await systemHttpListener.listen({
      name: 'debug',
      host: '127.0.0.1',
      port,
      handler,
      log: nullLogger,
    })
    port = listening.port
    stop.signal.addEventListener('abort', () => void listening[Symbol.asyncDispose]())
    running = manager.start({ signal: stop.signal })
    await manager.elected
    page = await env.open('#/operators')
  })
  afterAll(async () => {
    stop.abort()
    await running
    await env?.[Symbol.asyncDispose]()
  })

  const banner = () => page.getByRole('complementary', { name: 'Levers' })

  test('a controller is paused, stepped reconcile by reconcile, and resumed', async () => {
    const row = page.getByRole('row').filter({ hasText: 'copies' }).first()
    await row.getByRole('button', { name: 'Pause' }).click()
    await banner().getByText('Paused: copier / copies').waitFor()
    reconciled.length = 0
    for (const name of ['one', 'two', 'three']) await env.client.create(ConfigMap({ metadata: { name } }))
    await row.getByRole('cell', { name: '3', exact: true }).waitFor()
    expect(reconciled).toEqual([])
    await row.getByRole('button', { name: 'Step' }).click()
    await row.getByRole('cell', { name: '2', exact: true }).waitFor()
    expect(reconciled).toHaveLength(1)
    // The banner stays on all pages.
    await show(page, '#/changes')
    await banner().getByRole('button', { name: 'Resume' }).click()
    await banner().waitFor({ state: 'detached' })
    await expect.poll(() => reconciled.toSorted()).toEqual(['one', 'three', 'two'])
  })

  test('the next write of a kind fails with the chosen status, until the fault is used up', async () => {
    await show(page, '#/table/core/v1/secrets')
    await page.getByRole('button', { name: 'Cause faults…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('HTTP status').selectOption('403')
    await dialog.getByRole('button', { name: 'Fail the next writes' }).click()
    await banner().getByText('The next 1 writes of secrets fail with 403').waitFor()
    await env.client.create(ConfigMap({ metadata: { name: 'copied' } }))
    await banner().waitFor({ state: 'detached' })
    await show(page, '#/operators')
    await page.getByText('injected fault: PATCH of secrets fails with 403').first().waitFor()
    await expect.poll(async () => env.client.find(Secret, 'copied')).toBeDefined()
  })

  test('a cut watch is resumed by the operator', async () => {
    await show(page, '#/table/core/v1/configmaps')
    await page.getByRole('button', { name: 'Cause faults…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cut the watches' }).click()
    await page.getByText('1 watches were cut').waitFor()
    await env.client.create(ConfigMap({ metadata: { name: 'copied-later' } }))
    await expect.poll(async () => env.client.find(Secret, 'copied-later'), { timeout: 60_000 }).toBeDefined()
  })

  test('a pod is frozen, unfrozen and crashed', async () => {
    await env.client.create(Pod({ metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }))
    const status = async () => (await env.client.get(Pod, 'web')).status?.containerStatuses?.[0]
    const until = { timeout: 60_000 }
    await expect.poll(async () => (await status())?.ready, until).toBe(true)
    await show(page, '#/object/core/v1/pods/default/web')
    await page.getByRole('button', { name: 'Freeze', exact: true }).click()
    await expect.poll(async () => (await status())?.ready, until).toBe(false)
    await page.getByRole('button', { name: 'Unfreeze' }).click()
    await expect.poll(async () => (await status())?.ready, until).toBe(true)
    await page.getByRole('button', { name: 'Crash' }).click()
    await expect.poll(async () => (await status())?.restartCount, until).toBe(1)
  })

  test('virtual time is shown and advanced', async () => {
    let now = Date.UTC(2030, 0, 1)
    let changed: () => void = () => undefined
    const time = {
      now: () => now,
      advance: async (millis: number) => {
        now += millis
        changed()
      },
    }
    const { levers } = env.plane
    if (levers === undefined) throw new Error('There are no levers')
    const listen = (listener: () => void): Disposable => {
      changed = listener
      return levers.listen(listener)
    }
    const { startConsole } = await import('@kubewright/console')
    const { buildPage } = await import('../../tools/build-page.ts')
    await using other = await startConsole({
      client: env.client,
      page: await buildPage(),
      log: nullLogger,
      levers: { ...levers, faults: levers.faults, time, listen },
    })
    const virtual = await env.browse(other)
    await virtual.getByText('2030-01-01 00:00:00.000').waitFor()
    await virtual.getByRole('button', { name: 'Advance the time by 1m' }).click()
    await virtual.getByText('2030-01-01 00:01:00.000').waitFor()
    await virtual.context().close()
  })

  test('a console without levers refuses them, and shows none', async () => {
    const { startConsole } = await import('@kubewright/console')
    const { buildPage } = await import('../../tools/build-page.ts')
    await using plain = await startConsole({ client: env.client, page: await buildPage(), log: nullLogger })
    const plainPage = await env.browse(plain, '#/object/core/v1/pods/default/web')
    await plainPage.getByRole('button', { name: 'Evict' }).waitFor()
    expect(await plainPage.getByRole('button', { name: 'Crash' }).count()).toBe(0)
    const response = await plainPage.evaluate(async () => {
      const object = { resource: { group: '', version: 'v1', plural: 'pods' }, namespace: 'default', name: 'web' }
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ type: 'crash', object })
      return (await fetch('request', { method: 'POST', headers, body })).json() as Promise<unknown>
    })
    expect(response).toEqual({ error: 'This console has no levers: on a real cluster, start it with --levers' })
    await plainPage.context().close()
  })
})
