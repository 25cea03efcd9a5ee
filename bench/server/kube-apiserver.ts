import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import { programVersion } from '../program-version.ts'
import { type BenchedServer, processCpuMillis, processResidentMiB, type Target } from './benched-server.ts'
import { Http2Client } from './http2-client.ts'

const token = 'bench'
const readyWithinMillis = 180_000

/** kube-apiserver with etcd, both from PATH, with default settings: writes are durable. */
export class KubeApiserver implements BenchedServer {
  readonly #children: readonly ChildProcess[]
  readonly #folder: string
  readonly #port: number
  readonly readyMillis: number
  readonly readyCpuMillis: number

  private constructor(children: readonly ChildProcess[], folder: string, port: number, readyMillis: number) {
    this.#children = children
    this.#folder = folder
    this.#port = port
    this.readyMillis = readyMillis
    this.readyCpuMillis = this.cpuMillis()
  }

  /** Returns the versions of both, or undefined if one of them is missing. */
  static versions(): string | undefined {
    const server = programVersion('kube-apiserver')
    const etcd = programVersion('etcd')
    return server && etcd && `kube-apiserver ${server} with etcd ${etcd}`
  }

  static async start(): Promise<KubeApiserver> {
    const folder = mkdtempSync(join(tmpdir(), 'kubewright-bench-'))
    const [store, peers, port] = await Promise.all([freePort(), freePort(), freePort()])
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const file = (name: string, content: string | Buffer): string => {
      writeFileSync(join(folder, name), content)
      return join(folder, name)
    }
    const signing = file('sa.key', privateKey.export({ type: 'pkcs1', format: 'pem' }))
    const verifying = file('sa.pub', publicKey.export({ type: 'spki', format: 'pem' }))
    const url = `http://127.0.0.1:${store}`
    const start = performance.now()
    const run = (name: string, flags: Readonly<Record<string, string>>): ChildProcess =>
      spawn(
        name,
        Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
        { cwd: folder, stdio: 'ignore' },
      )
    const etcd = run('etcd', {
      'data-dir': join(folder, 'etcd'),
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': `http://127.0.0.1:${peers}`,
    })
    const server = run('kube-apiserver', {
      'etcd-servers': url,
      'secure-port': String(port),
      'bind-address': '127.0.0.1',
      'cert-dir': join(folder, 'certs'),
      'authorization-mode': 'RBAC',
      'token-auth-file': file('tokens.csv', `${token},bench,bench,"system:masters"\n`),
      'service-account-issuer': 'https://kubernetes.default.svc',
      'service-account-key-file': verifying,
      'service-account-signing-key-file': signing,
      'service-cluster-ip-range': '10.96.0.0/16',
    })
    const until = start + readyWithinMillis
    while (!(await isReady(port!, folder))) {
      if (performance.now() > until || server.exitCode !== null) throw new Error('kube-apiserver did not get ready')
      await sleep(20)
    }
    return new KubeApiserver([etcd, server], folder, port!, performance.now() - start)
  }

  cpuMillis(): number {
    return this.#children.reduce((sum, { pid }) => sum + processCpuMillis(pid!), 0)
  }

  residentMiB(): number {
    return this.#children.reduce((sum, { pid }) => sum + processResidentMiB(pid!), 0)
  }

  client(): Http2Client {
    return connectTo(this.#port, this.#folder)
  }

  target(): Target {
    return targetOf(this.#port, this.#folder)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Connects with the certificate that the server generated for itself. */
function connectTo(port: number, folder: string): Http2Client {
  const { server, tls, headers } = targetOf(port, folder)
  return new Http2Client(server, tls, headers)
}

function targetOf(port: number, folder: string): Target {
  const ca = readFileSync(join(folder, 'certs/apiserver.crt'))
  const tls = { ca, checkServerIdentity: () => undefined }
  return { server: new URL(`https://127.0.0.1:${port}`), tls, headers: { authorization: `Bearer ${token}` } }
}

async function isReady(port: number, folder: string): Promise<boolean> {
  try {
    using client = connectTo(port, folder)
    // A request during the start may never be answered.
    return await Promise.race([client.send('GET', '/readyz').then(() => true), sleep(1000, false)])
  } catch {
    return false
  }
}
