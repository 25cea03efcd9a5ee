// From an empty folder to the first reconcile, with packages from a registry.
import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseYaml } from '@kubewright/api'
import { CliProcess } from '../test/dev/cli-process.ts'
import {
  configuredRegistry,
  npmEnvironment,
  startLocalRegistry,
  whyUnreachable,
} from '../test/scaffold/local-registry.ts'
import { installPacked, packPackages } from '../test/scaffold/packed-modules.ts'
import { Requests } from '../test/up/requests.ts'
import type { Suite } from './harness.ts'

const rounds = 3
const aimSeconds = 60

/** How the commands are run. */
interface Caller {
  readonly env: NodeJS.ProcessEnv
  /** The script of npm; undefined to run the project's command directly. */
  readonly npm?: string
}

/** Runs all steps. Returns the milliseconds of each step. */
async function walk(folder: string, { env, npm }: Caller): Promise<Map<string, number>> {
  const cli = join(folder, 'node_modules/@kubewright/cli/dist/main.js')
  // Asynchronously, because the registry runs in this process.
  const run = (...args: string[]): Promise<unknown> => promisify(execFile)(process.execPath, args, { cwd: folder, env })
  const kubewright = (...args: string[]): Promise<unknown> =>
    npm === undefined ? run(cli, ...args) : run(npm, 'exec', '--yes', '--', 'kubewright', ...args)
  const taken = new Map<string, number>()
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const start = performance.now()
    await work()
    taken.set(name, performance.now() - start)
  }
  await step('`npx kubewright init`', () => kubewright('init', '--yes'))
  if (npm !== undefined) await step('`npm install`', () => run(npm, 'install'))
  const home = ['--group', 'ajd', '--version', 'v1', '--kind', 'Home']
  await step('`npx kubewright create api`', () => kubewright('create', 'api', ...home))
  const webhooks = ['--defaulting', '--programmatic-validation']
  await step('`npx kubewright create webhook`', () => kubewright('create', 'webhook', ...webhooks))
  const [program, ...args] = npm === undefined ? [cli, 'dev'] : [npm, 'run', 'dev']
  const dev = CliProcess.startGroup(program, args, folder, env)
  try {
    await step('`npm run dev`, until the operator runs', () => dev.line(/ started in /))
    await step('a sample, until it is reconciled', async () => {
      const sample = parseYaml(readFileSync(join(folder, 'config/samples/ajd_v1_home.yaml'), 'utf8'))
      using requests = new Requests(join(folder, '.kubewright/kubeconfig'))
      await requests.send('POST', '/apis/ajd.my.domain/v1/namespaces/default/homes', sample)
      await dev.line(/ home\/home-sample {2}reconciled /)
    })
  } finally {
    await dev.stop('SIGINT')
  }
  return taken
}

/** Returns the minimum of each step over several runs. `before` is called before each run. */
async function least(folder: string, caller: Caller, before: () => void): Promise<Map<string, number>> {
  const least = new Map<string, number>()
  for (let round = 0; round < rounds; round++) {
    before()
    for (const [name, millis] of await walk(folder, caller)) {
      least.set(name, Math.min(millis, least.get(name) ?? millis))
    }
  }
  return least
}

const sum = (taken: ReadonlyMap<string, number>): number => [...taken.values()].reduce((all, millis) => all + millis, 0)

/** Runs the steps with npm and, in the installed project, without. */
async function report(stage: string): Promise<string[]> {
  const folder = join(stage, 'homes')
  mkdirSync(folder)
  const clear = (keep: RegExp): void => {
    for (const name of readdirSync(folder)) if (!keep.test(name)) rmSync(join(folder, name), { recursive: true })
  }
  const clean = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '' }
  const registry = configuredRegistry()
  const problem = await whyUnreachable(registry, 'vitest')
  if (problem !== undefined) {
    await installPacked(folder)
    const alone = await least(folder, { env: clean }, () => clear(/^node_modules$/))
    return [
      `No registry is reachable (${problem}), so these figures are without npm.`,
      '',
      '| step | time |',
      '|---|---|',
      ...[...alone].map(([name, millis]) => `| ${name} | ${millis.toFixed(0)} ms |`),
      `| all | ${(sum(alone) / 1000).toFixed(1)} s |`,
    ]
  }
  const packed = join(stage, 'packed')
  mkdirSync(packed)
  await using local = await startLocalRegistry(await packPackages(packed), registry)
  const env = { ...npmEnvironment(local.url, stage), NO_COLOR: '1', NODE_OPTIONS: '' }
  const npm = realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())
  await walk(folder, { env, npm })
  const withNpm = await least(folder, { env, npm }, () => {
    clear(/^$/)
    // Packages that npx has unpacked do not belong to the cache.
    rmSync(join(stage, 'cache/_npx'), { recursive: true, force: true })
  })
  const alone = await least(folder, { env: clean }, () => clear(/^node_modules$/))
  const [all, rest] = [sum(withNpm) / 1000, sum(alone) / 1000]
  const aim = `target ${aimSeconds} s: ${all <= aimSeconds ? 'met' : 'missed'}; ${((1 - rest / all) * 100).toFixed(0)} % of it is npm`
  return [
    '| step | with npm | without |',
    '|---|---|---|',
    ...[...withNpm].map(([name, millis]) => {
      const own = alone.get(name)
      return `| ${name} | ${millis.toFixed(0)} ms | ${own === undefined ? '–' : `${own.toFixed(0)} ms`} |`
    }),
    `| all | ${all.toFixed(1)} s (${aim}) | ${rest.toFixed(1)} s |`,
  ]
}

/** The waiting time of a new user. */
export const suite: Suite = {
  title: 'From an empty folder to the first reconcile',
  about: `Each command is a separate process. With npm: nothing is installed before, npm’s cache is warm, and packages come from a registry on loopback that serves the packed packages of Kubewright and forwards requests for others. Without npm: the same commands, run by node in a project with its node_modules. Elapsed time; for each step the minimum of ${rounds} runs.`,
  report: async () => {
    const stage = mkdtempSync(join(tmpdir(), 'kubewright-bench-'))
    try {
      return await report(stage)
    } finally {
      rmSync(stage, { recursive: true, force: true })
    }
  },
}
