// The console on a cluster with 10,000 pods and 200 changes per second: its server side, its page, and the operator.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { systemClock } from '@kubewright/base'
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Pod } from '@kubewright/k8s'
import { type Browser, chromium, type Page } from 'playwright-core'
import { buildPage } from '../tools/build-page.ts'
import type { Suite } from './harness.ts'

const pods = Number(process.env['BENCH_PODS'] ?? 10_000)
const changesPerSecond = 200
const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const mebibytes = (value: number): string => `${value.toFixed(0)} MiB`
const aim = (isMet: boolean, target: string): string => `(target ${target}: ${isMet ? 'met' : 'missed'})`

interface Usage {
  readonly cpuMillis: number
  readonly rssMiB: number
}

/** A process that states its CPU time and memory. */
class Measured {
  readonly #child: ChildProcess
  readonly port: number

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  static async start(...args: string[]): Promise<Measured> {
    const child = fork(join(import.meta.dirname, 'console', 'console-runner.ts'), args, { execArgv: process.execArgv })
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    return new Measured(child, port)
  }

  async #request<T>(message: string): Promise<T> {
    const answer = once(this.#child, 'message')
    this.#child.send(message)
    return (await answer)[0] as T
  }

  usage(): Promise<Usage> {
    return this.#request('usage')
  }

  async link(): Promise<string> {
    return (await this.#request<{ link: string }>('link')).link
  }

  stop(): void {
    this.#child.kill()
  }
}

/** The CPU time of a process during the measured seconds, and its memory after them. */
async function during(process: Measured, work: Promise<unknown> = systemClock.sleep(seconds * 1000)): Promise<Usage> {
  const before = await process.usage()
  await work
  const after = await process.usage()
  return { cpuMillis: after.cpuMillis - before.cpuMillis, rssMiB: after.rssMiB }
}

/** A script that resolves with the times between the frames of the given milliseconds. As text: it runs in the page. */
const frameTimes = (millis: number): string => `new Promise((resolve) => {
  const times = []
  const frame = (time) => {
    times.push(time)
    if (time - times[0] < ${millis}) requestAnimationFrame(frame)
    else resolve(times.slice(1).map((one, index) => one - times[index]))
  }
  requestAnimationFrame(frame)
})`

interface PageFigures {
  /** The CPU time of the main thread, and the JavaScript heap. */
  readonly usage: Usage
  /** Milliseconds between frames, sorted. */
  readonly frames: readonly number[]
}

async function measurePage(page: Page): Promise<PageFigures> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const metric = async (name: string): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find((one) => one.name === name)?.value ?? 0
  }
  // ThreadTime is CPU time: a page that waits for a core does not count.
  const before = await metric('ThreadTime')
  const frames = await page.evaluate<number[]>(frameTimes(seconds * 1000))
  const cpuMillis = ((await metric('ThreadTime')) - before) * 1000
  const rssMiB = (await metric('JSHeapUsedSize')) / 1048576
  return { usage: { cpuMillis, rssMiB }, frames: frames.toSorted((a, b) => a - b) }
}

/** The milliseconds from the navigation until the page shows something, and until it shows the rows of a table. */
async function measureStart(browser: Browser, console: Measured): Promise<{ paint: number; rows: number }> {
  const starts: { paint: number; rows: number }[] = []
  for (let round = 0; round < 5; round++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.addInitScript(`new MutationObserver(() => {
      if (globalThis.firstRows === undefined && document.querySelector('.rows .row')) firstRows = performance.now()
    }).observe(document, { childList: true, subtree: true })`)
    await page.goto(await console.link())
    await page.locator('.rows .row').first().waitFor({ timeout: 120_000 })
    const paint = await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`)
    starts.push({ paint, rows: await page.evaluate<number>('firstRows') })
    await context.close()
  }
  const best = (name: 'paint' | 'rows'): number => Math.min(...starts.map((start) => start[name]))
  return { paint: best('paint'), rows: best('rows') }
}

/** The size of the files that a page loads before it shows something, compressed. */
async function pageSize(): Promise<number> {
  const files = await buildPage()
  return Object.values(files).reduce((sum, file) => sum + gzipSync(file).length, 0)
}

async function report(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-console-'))
  const plane = await startControlPlane({ controllers: ['serviceaccount-controller'], nodes: 0 })
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, (await plane.listen()).kubeconfig, { mode: 0o600 })
  const client = plane.client()
  const started: Measured[] = []
  const start = async (...args: string[]): Promise<Measured> => {
    const process = await Measured.start(...args)
    started.push(process)
    return process
  }
  const stop = new AbortController()
  // Counts the changes, so that the rate of each row is known.
  let changes = 0
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const spec = { containers: [{ name: 'web', image: 'nginx:1.27' }] }
    const template = (name: string) => Pod({ metadata: { name, labels: { app: 'web' } }, spec })
    for (let next = 0; next < pods; next += 50) {
      const names = Array.from({ length: Math.min(50, pods - next) }, (_, index) => `pod-${next + index}`)
      await Promise.all(names.map((name) => client.create(template(name))))
    }
    for (let index = 0; index < 20; index++) await client.create(ConfigMap({ metadata: { name: `map-${index}` } }))
    const plain = await start('operator', kubeconfig, 'plain')
    const operator = await start('operator', kubeconfig, 'debug')
    const idle = await start('console', kubeconfig, 'page', String(operator.port))
    const recorder = await start('console', kubeconfig, 'start')
    await systemClock.sleep(3000)
    const writing = write()
    const lines = ['| work | CPU of one core | memory | changes per second |', '|---|---|---|---|']
    let [from, since] = [0, 0]
    const begin = (): void => {
      from = changes
      since = systemClock.monotonic()
    }
    const row = (work: string, { cpuMillis, rssMiB }: Usage, rate: number): void => {
      const share = (cpuMillis / (10 * seconds)).toFixed(1)
      lines.push(`| ${work} | ${share} % | ${mebibytes(rssMiB)} | ${rate.toFixed(0)} |`)
    }
    const rateNow = (): number => ((changes - from) * 1000) / (systemClock.monotonic() - since)

    begin()
    const quiet = await Promise.all([plain, operator, idle, recorder].map((process) => during(process)))
    let rate = rateNow()
    const titles = [
      'operator without a debug address',
      'operator with a debug address that no console reads',
      'console without a page, which records from the first page on (`kubewright console`)',
      'console without a page, which records from its start (`dev`, `up --console`)',
    ]
    for (const [index, usage] of quiet.entries()) row(titles[index] ?? '', usage, rate)
    recorder.stop()
    plain.stop()

    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(await idle.link())
    await page.getByText('Live').waitFor()
    const frames: string[] = []
    const show = async (hash: string, name: string, isReady: () => Promise<void>): Promise<void> => {
      await page.evaluate(`location.hash = '${hash}'`)
      await isReady()
      await systemClock.sleep(2000)
      begin()
      const looking = measurePage(page)
      const [server, operated] = await Promise.all([during(idle, looking), during(operator, looking)])
      rate = rateNow()
      const { usage, frames: times } = await looking
      row(`console with a page that shows ${name}`, server, rate)
      row(`page that shows ${name} (main thread, JavaScript heap)`, usage, rate)
      row(`operator while a page shows ${name}`, operated, rate)
      const at = (share: number): string => `${(times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(0)} ms`
      const perSecond = (times.length / seconds).toFixed(0)
      frames.push(`| ${name} | ${at(0.5)} | ${at(0.95)} | ${at(0.99)} | ${at(1)} | ${perSecond} |`)
    }
    await show('#/table/core/v1/pods', 'all pods', () =>
      page.getByText(`${pods} of ${pods}`).waitFor({ timeout: 120_000 }),
    )
    await show('#/changes', 'the last 200 changes', () => page.locator('.changes tr').first().waitFor())
    await show('#/operators', 'the operator', () => page.getByRole('heading', { name: 'bench' }).waitFor())
    await context.close()
    stop.abort()
    await writing
    const { paint, rows } = await measureStart(browser, idle)
    const size = (await pageSize()) / 1024
    lines.push(
      '',
      '| frames of the page that shows | median | 95 % | 99 % | longest | per second |',
      '|---|---|---|---|---|---|',
      ...frames,
      '',
      '| start of the page | result |',
      '|---|---|',
      `| files, compressed with gzip | ${size.toFixed(0)} KiB ${aim(size <= 250, '250')} |`,
      `| first contentful paint, best of five | ${paint.toFixed(0)} ms ${aim(paint <= 500, '500')} |`,
      `| first rows of a table of the cluster, best of five | ${rows.toFixed(0)} ms ${aim(rows <= 500, '500')} |`,
    )
    return lines
  } finally {
    stop.abort()
    for (const process of started) process.stop()
    await browser.close()
    await plane[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  }

  /** Changes objects at the given rate: nine pods, then a ConfigMap, which the operator reconciles. */
  async function write(): Promise<void> {
    let begin = systemClock.monotonic()
    // Writers beside each other keep the rate on a busy machine, too.
    const writer = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const due = ((systemClock.monotonic() - begin) / 1000) * changesPerSecond
        if (changes >= due) {
          await systemClock.sleep(5)
          continue
        }
        // Changes that a busy machine missed are not made up for: the rate stays the same.
        if (due - changes > 20) begin += ((due - changes) / changesPerSecond) * 1000
        const count = changes++
        const labels = { change: String(count) }
        if (count % 10 === 0) await client.patch(ConfigMap, `map-${(count / 10) % 20}`, { metadata: { labels } })
        else await client.patch(Pod, `pod-${(count * 7919) % pods}`, { metadata: { labels } })
      }
    }
    await Promise.all(Array.from({ length: 16 }, writer))
  }
}

export const suite: Suite = {
  title: 'Console',
  about:
    'A cluster with 10,000 pods, of which 200 objects per second change, in one process; the server side of the console, an operator with 20 reconciles per second, and the page in Chromium each in another. Shares of one core; frames are drawn without a graphics card.',
  report,
}
