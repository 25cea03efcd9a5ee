// From an empty folder to the first reconcile, with packages as a registry hands them out.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@kubewright/api'
import { CliProcess } from '../test/dev/cli-process.ts'
import { installPacked } from '../test/scaffold/packed-modules.ts'
import { Requests } from '../test/up/requests.ts'
import type { Suite } from './harness.ts'

const rounds = 3
const aimSeconds = 60

/** What each step took, in milliseconds. */
async function walk(folder: string): Promise<Map<string, number>> {
  const cli = join(folder, 'node_modules/@kubewright/cli/dist/main.js')
  const env = { ...process.env, NO_COLOR: '1', NODE_OPTIONS: '' }
  const kubewright = (...args: string[]): unknown =>
    execFileSync(process.execPath, [cli, ...args], { cwd: folder, env, stdio: 'pipe' })
  const taken = new Map<string, number>()
  const step = async (name: string, work: () => unknown): Promise<void> => {
    const start = performance.now()
    await work()
    taken.set(name, performance.now() - start)
  }
  await step('`init`', () => kubewright('init', '--yes'))
  await step('`create api`', () => kubewright('create', 'api', '--group', 'ajd', '--version', 'v1', '--kind', 'Home'))
  await step('`create webhook`', () => kubewright('create', 'webhook', '--defaulting', '--programmatic-validation'))
  const dev = CliProcess.startProgram(cli, ['dev'], folder, env)
  try {
    await step('`dev`, until the operator runs', () => dev.line(/ runs after /))
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

/** What a newcomer waits for. */
export const suite: Suite = {
  title: 'From an empty folder to the first reconcile',
  about: `Each command is a process of its own, with packed packages in node_modules: npm install is not part of it. Time that passed; the least of ${rounds} walks.`,
  report: async () => {
    const folder = join(mkdtempSync(join(tmpdir(), 'kubewright-bench-')), 'homes')
    mkdirSync(folder)
    try {
      await installPacked(folder)
      const least = new Map<string, number>()
      for (let round = 0; round < rounds; round++) {
        for (const name of readdirSync(folder)) {
          if (name !== 'node_modules') rmSync(join(folder, name), { recursive: true })
        }
        for (const [name, millis] of await walk(folder)) least.set(name, Math.min(millis, least.get(name) ?? millis))
      }
      const total = [...least.values()].reduce((sum, millis) => sum + millis, 0)
      const aim = ` (aim ${aimSeconds} s with npm install: ${(aimSeconds - total / 1000).toFixed(0)} s are left for npm)`
      return [
        '| step | time |',
        '|---|---|',
        ...[...least].map(([name, millis]) => `| ${name} | ${millis.toFixed(0)} ms |`),
        `| all | ${(total / 1000).toFixed(1)} s${aim} |`,
      ]
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
