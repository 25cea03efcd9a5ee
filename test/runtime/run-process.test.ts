// `run` as a real process: exit codes and signals.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { systemClock, withDeadline } from '@kubewright/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const main = join(import.meta.dirname, 'testdata/idle-operator.ts')
let folder: string
let kubeconfig: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-run-'))
  kubeconfig = join(folder, 'kubeconfig')
  // The address has no server: the operator retries until it is stopped.
  const cluster = { server: 'http://127.0.0.1:1' }
  const config = {
    clusters: [{ name: 'none', cluster }],
    contexts: [{ name: 'none', context: { cluster: 'none', user: 'nobody' } }],
    users: [{ name: 'nobody', user: {} }],
    'current-context': 'none',
  }
  await writeFile(kubeconfig, JSON.stringify(config))
})
afterAll(() => rm(folder, { recursive: true }))

interface Program {
  readonly process: ChildProcess
  /** Resolves when the log contains the text. */
  says(text: string): Promise<void>
  ended(): Promise<{ code: number | null; out: string[]; notes: string[] }>
}

function start(...args: string[]): Program {
  const options = { cwd: folder, env: { ...process.env, HOME: folder, KUBECONFIG: '', KUBERNETES_SERVICE_HOST: '' } }
  // Started in the folder of this file, where the loader can be resolved.
  const loader = ['--conditions=kubewright-source', '--import', import.meta.resolve('tsx')]
  const child = spawn(process.execPath, [...loader, main, '--health-probe-bind-address=0', ...args], options)
  const [out, notes]: [string[], string[]] = [[], []]
  const waiting = new Set<{ text: string; resolve: () => void }>()
  createInterface({ input: child.stdout }).on('line', (line) => out.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => {
    notes.push(line)
    for (const one of waiting) if (line.includes(one.text)) one.resolve()
  })
  const ended = once(child, 'close')
  const limited = <T>(what: string, promise: Promise<T>): Promise<T> =>
    withDeadline(systemClock, '60s', what, () => promise)
  return {
    process: child,
    says: (text) =>
      limited(
        `"${text}" in the log`,
        new Promise((resolve) => {
          if (notes.some((line) => line.includes(text))) resolve()
          waiting.add({ text, resolve })
        }),
      ),
    ended: async () => {
      const [code] = (await limited('the end of the process', ended)) as [number | null]
      return { code, out, notes }
    },
  }
}

describe('run()', { timeout: 120_000 }, () => {
  test('stops on SIGTERM and lets the program continue', async () => {
    const program = start('--kubeconfig', kubeconfig)
    await program.says('"Using cluster"')
    program.process.kill('SIGTERM')
    const { code, out, notes } = await program.ended()
    expect({ code, out }, notes.join('\n')).toEqual({ code: 0, out: ['stopped'] })
  })

  test('exits with 2 for invalid flags and with 1 without a cluster, and reports the reason in one line', async () => {
    const [wrong, lost] = [start('--leader-elec'), start('--log-format=pretty')]
    expect(await wrong.ended()).toEqual({
      code: 2,
      out: [],
      notes: ['idle-operator: unknown flag --leader-elec: did you mean --leader-elect?', 'See idle-operator --help'],
    })
    const { code, notes } = await lost.ended()
    expect({ code, notes }).toEqual({
      code: 1,
      notes: [expect.stringMatching(/^idle-operator: No cluster is configured: /)],
    })
  })
})
