import { systemClock } from '@kubewright/base'
import { Pod } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, noKubelet, openTestConsole, shellImage, show, type TestConsole } from './open-test-console.ts'

const skipped = noBrowser ?? noKubelet
if (skipped !== undefined) console.log(`Browser tests of real containers are skipped: ${skipped}`)

const name = `shell-${Date.now().toString(36)}`
const route = `#/object/core/v1/pods/default/${name}`

describe.skipIf(skipped !== undefined)('containers of a real kubelet in the console', { timeout: 180_000 }, () => {
  let env: TestConsole

  beforeAll(async () => {
    env = await openTestConsole()
    const ticks = 'n=0; while true; do n=$((n+1)); echo "tick $n <b>bold</b>"; sleep 1; done'
    const web = 'mkdir /tmp/www; echo "from $HOSTNAME" > /tmp/www/index.html; httpd -f -p 8080 -h /tmp/www'
    const image = shellImage
    await env.client.create(
      Pod({
        metadata: { name },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            { name: 'ticks', image, command: ['sh', '-c', ticks] },
            { name: 'web', image, command: ['sh', '-c', web] },
            { name: 'crash', image, command: ['sh', '-c', 'echo last words $(cat /proc/uptime); sleep 1; exit 7'] },
          ],
        },
      }),
    )
    const restarts = async (): Promise<number> => {
      const { status } = await env.client.get(Pod, name)
      return status?.containerStatuses?.find((one) => one.name === 'crash')?.restartCount ?? 0
    }
    while ((await restarts()) === 0) await systemClock.sleep(500)
  }, 180_000)
  afterAll(async () => {
    await env?.client.delete(Pod, name).catch(() => undefined)
    await env?.[Symbol.asyncDispose]()
  })

  test('the log of each container is followed as text, that of the former one included', async () => {
    const page = await env.open(`${route}?tab=logs`)
    const log = page.getByRole('log')
    await log.getByText(/tick 1 <b>bold<\/b>/).waitFor()
    const lines = async (): Promise<number> => ((await log.textContent()) ?? '').split('\n').length
    const before = await lines()
    await expect.poll(lines, { timeout: 30_000 }).toBeGreaterThan(before + 1)
    await page.getByLabel('Container').selectOption('crash')
    await log.getByText('last words').waitFor()
    const words = await log.textContent()
    // The log of the next run replaces that of the former one.
    await expect.poll(() => log.textContent(), { timeout: 90_000 }).not.toBe(words)
    await log.getByText('last words').waitFor()
    await page.getByLabel('Before the last restart').check()
    await log.getByText('last words').waitFor()
    expect(await page.locator('b').count()).toBe(0)
    await page.context().close()
  })

  test('a shell reads the input of the user, and its exit code is shown', async () => {
    const page = await env.open(`${route}?tab=exec`)
    await page.getByLabel('Container').selectOption('web')
    await page.getByRole('button', { name: 'Run' }).click()
    const input = page.getByLabel('Input')
    const output = page.getByRole('log')
    await input.fill('echo "<i>$((6*7))</i> on $HOSTNAME"; echo wrong >&2')
    await input.press('Enter')
    await output.getByText(`<i>42</i> on ${name}`).waitFor()
    await output.getByText('wrong', { exact: false }).waitFor()
    await input.fill('exit 3')
    await input.press('Enter')
    await page.getByText('The command exited with code 3').waitFor()
    await page.getByLabel('Command').fill('no-such-program')
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText(/no-such-program.*not found|executable file not found/).waitFor()
    await page.context().close()
  })

  test('a forwarded port serves the web server of the pod, and a closed one shows why not', async () => {
    const page = await env.open(`${route}?tab=ports`)
    const forward = async (port: number): Promise<string> => {
      await page.getByLabel('Port of the pod').fill(String(port))
      await page.getByRole('button', { name: 'Forward', exact: true }).click()
      const line = page.locator('p', { hasText: `→ ${port}` })
      return (await line.getByRole('link').getAttribute('href')) ?? ''
    }
    const response = await fetch(await forward(8080))
    expect(await response.text()).toBe(`from ${name}\n`)
    await expect(fetch(await forward(9)).then(({ status }) => status)).rejects.toThrow()
    await page.locator('p', { hasText: '→ 9' }).locator('.problem').waitFor()
    await page.context().close()
  })

  test('levers are absent on a cluster that is not simulated', async () => {
    const page = await env.open(route)
    await page.getByRole('button', { name: 'Evict' }).waitFor()
    for (const lever of ['Crash', 'Freeze', 'Cause faults'])
      expect(await page.getByRole('button', { name: lever }).count(), lever).toBe(0)
    await show(page, '#/table/core/v1/pods')
    await page.getByRole('row').filter({ hasText: name }).waitFor()
    expect(await page.getByRole('button', { name: 'Cause faults' }).count()).toBe(0)
    await page.context().close()
  })
})
