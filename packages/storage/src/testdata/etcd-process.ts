// Starts a real etcd for tests, on free ports of the loopback interface and with its data in a temporary folder.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './free-port.ts'

/** The etcd binary: KUBEWRIGHT_TEST_ETCD, or else the one on the PATH. */
const binary = process.env['KUBEWRIGHT_TEST_ETCD'] ?? 'etcd'

/** The reason why tests with a real etcd cannot run here; undefined when they can. */
export const noEtcd: string | undefined = spawnSync(binary, ['--version']).error
  ? 'no etcd on the PATH (Debian: apt-get install etcd-server)'
  : undefined

/** A single-member etcd that can be killed and restarted with the same data. */
export interface EtcdProcess extends AsyncDisposable {
  readonly url: string
  /** Kills the process with SIGKILL, as in a power failure. */
  kill(): Promise<void>
  start(): Promise<void>
}

export async function startEtcd(
  options: {
    scheme?: 'http' | 'https'
    flags?: readonly string[]
    /** The name of the member. */
    name?: string
    /** The URL of the member for other members. */
    peer?: string
    /** All members, as in `--initial-cluster`. @default only this one */
    cluster?: string
  } = {},
): Promise<EtcdProcess> {
  // In memory where possible: the tests do not depend on the speed of the disk.
  const folder = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'kubewright-etcd-'))
  const url = `${options.scheme ?? 'http'}://127.0.0.1:${await freePort()}`
  const { name = 'test', peer = `http://127.0.0.1:${await freePort()}` } = options
  const { cluster = `${name}=${peer}` } = options
  let child: ChildProcess | undefined

  const start = async (): Promise<void> => {
    const args = [
      ...['--data-dir', folder, '--name', name, '--log-level', 'info', '--logger', 'zap', '--log-outputs', 'stderr'],
      ...['--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer, '--initial-cluster', cluster],
      ...['--heartbeat-interval', '50', '--election-timeout', '250', ...(options.flags ?? [])],
    ]
    const started = spawn(binary, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    child = started
    await new Promise<void>((resolve, reject) => {
      const lines: string[] = []
      createInterface({ input: started.stderr }).on('line', (line) => {
        lines.push(line)
        if (/serving client (requests|traffic)|serving insecure client requests/.test(line)) resolve()
      })
      started.once('error', reject)
      started.once('close', () => reject(new Error(`etcd exited:\n${lines.slice(-5).join('\n')}`)))
    })
  }
  const kill = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  await start()
  return {
    url,
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
