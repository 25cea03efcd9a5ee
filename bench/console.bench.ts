// The console on a cluster with 10,000 pods and 200 changes per second: its server side, its page, and the operator.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Pod } from '@kubewright/k8s'
import { chromium, type Page } from 'playwright-core'
import type { Suite } from './harness.ts'

const pods = Number(process.env['BENCH_PODS'] ?? 10_000)
const changesPerSecond = 200
const seconds = Number(process.env['BENCH_SECONDS'] ?? 10)
const percent = (millis: number): string => `${(millis / (10 * seconds)).toFixed(1)} %`
const mebibytes = (value: number): string => `${value.toFixed(0)} MiB`

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
    const child = fork(join(import.meta.dirname, 'console', 'measured.ts'), args, { execArgv: process.execArgv })
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

/** The times between frames in milliseconds, the CPU time of the page's main thread, and its heap. */
async function measurePage(page: Page): Promise<{ frames: number[]; cpuMillis: number; heapMiB: number }> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const metric = async (name: string): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics')
    return metrics.find((one) => one.name === name)?.value ?? 0
  }
  const before = await metric('TaskDuration')
  const frames = await page.evaluate<number[]>(frameTimes(seconds * 1000))
  const cpuMillis = ((await metric('TaskDuration')) - before) * 1000
  return { frames, cpuMillis, heapMiB: (await metric('JSHeapUsedSize')) / 1048576 }
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
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  try {
    const spec = { containers: [{ name: 'web', image: 'nginx:1.27' }] }
    const template = (name: string) => Pod({ metadata: { name, labels: { app: 'web' } }, spec })
    for (let next = 0; next < pods; next += 50) {
      const names = Array.from({ length: Math.min(50, pods - next) }, (_, index) => `pod-${next + index}`)
      await Promise.all(names.map((name) => client.create(template(name))))
    }
    for (let index = 0; index < 20; index++) await client.create(ConfigMap({ metadata: { name: `map-${index}` } }))
    const operator = await start('operator', kubeconfig)
    const idle = await start('console', kubeconfig, 'page', String(operator.port))
    const recorder = await start('console', kubeconfig, 'start')
    await systemClock.sleep(5000)
    const writing = write()
    const lines = ['| work | CPU of one core | memory |', '|---|---|---|']
    const row = (work: string, { cpuMillis, rssMiB }: Usage): void => {
      lines.push(`| ${work} | ${percent(cpuMillis)} | ${mebibytes(rssMiB)} |`)
    }
    const [quiet, recording, alone] = await Promise.all([during(idle), during(recorder), during(operator)])
    row('console without a page, which records from the first page on', quiet)
    row('console without a page, which records from its start (`dev`, `up --console`)', recording)
    row('operator, no page open', alone)
    recorder.stop()
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${await idle.link()}`)
    await page.getByText('Live').waitFor()
    await page.evaluate(`location.hash = '#/table/core/v1/pods'`)
    await page.getByText(`${pods} of ${pods}`).waitFor({ timeout: 120_000 })
    await systemClock.sleep(5000)
    const looking = measurePage(page)
    row('console with a page that shows all pods', await during(idle, looking))
    const { frames, cpuMillis, heapMiB } = await looking
    row('page that shows all pods (main thread, JavaScript heap)', { cpuMillis, rssMiB: heapMiB })
    await page.evaluate(`location.hash = '#/operators'`)
    await page.getByRole('heading', { name: 'bench' }).waitFor()
    await systemClock.sleep(2000)
    row('operator while a page shows it', await during(operator))
    stop.abort()
    const rate = await writing
    const sorted = frames.toSorted((a, b) => a - b)
    const at = (share: number): string => `${(sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0)} ms`
    lines.push(
      '',
      `Frames of the page: median ${at(0.5)}, 95 % within ${at(0.95)}, longest ${at(1)}; ${(frames.length / seconds).toFixed(0)} per second. Changes that the server made: ${rate.toFixed(0)} per second.`,
    )
    return lines
  } finally {
    stop.abort()
    for (const process of started) process.stop()
    await browser.close()
    await plane[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true })
  }

  /** Changes pods at the given rate, and one ConfigMap in ten of the changes. Resolves with the rate reached. */
  async function write(): Promise<number> {
    const begin = systemClock.monotonic()
    let count = 0
    while (!stop.signal.aborted) {
      const due = ((systemClock.monotonic() - begin) / 1000) * changesPerSecond
      while (count < due && !stop.signal.aborted) {
        const labels = { change: String(count) }
        if (count % 10 === 0) await client.patch(ConfigMap, `map-${count % 20}`, { metadata: { labels } })
        else await client.patch(Pod, `pod-${(count * 7919) % pods}`, { metadata: { labels } })
        count++
      }
      await systemClock.sleep(5)
    }
    return count / ((systemClock.monotonic() - begin) / 1000)
  }
}

export const suite: Suite = {
  title: 'Console',
  about:
    'A cluster with 10,000 pods, of which 200 objects per second change, in one process; the server side of the console, an operator with 20 reconciles per second, and the page in Chromium each in another. Shares of one core.',
  report,
}
