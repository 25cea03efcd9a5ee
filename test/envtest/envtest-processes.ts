import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { CertificateAuthority } from '@kubewright/server'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import type { Reply } from '../up/requests.ts'
import { TemporaryFolder, upProgram } from '../up/up-process.ts'

/** The environment of the programs: compiled code is kept beside them. */
const environment = (program: string): NodeJS.ProcessEnv => ({
  ...process.env,
  XDG_CACHE_HOME: join(dirname(program), 'cache'),
})

/** Runs `kubewright envtest use` in a process. Returns the folder. */
export async function useAssets(version: string, folder: string): Promise<string> {
  const program = await upProgram()
  const args = [program, 'envtest', 'use', version, '--bin-dir', folder, '-p', 'path']
  return execFileSync(process.execPath, args, { encoding: 'utf8', env: environment(program) }).trim()
}

/** A program of a folder, started with flags. */
class Started implements AsyncDisposable {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  readonly #exited: Promise<number | string>
  readonly #output: Promise<void>

  constructor(file: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      createInterface({ input: stream }).on('line', (line) => this.lines.push(line))
    // Starters poll the health check; a test waits for the first line, which follows the start to listen.
    this.#output = once(this.#child.stdout!, 'data').then(() => undefined)
  }

  /** Resolves when the program has printed that it is ready. Rejects if it ends before. */
  async ready(): Promise<void> {
    const ended = this.#exited.then((code) => {
      throw new Error(`The program ended with ${code}: ${this.lines.join('\n')}`)
    })
    ended.catch(() => undefined)
    await Promise.race([this.#output, ended])
  }

  async stop(): Promise<number | string> {
    this.#child.kill('SIGTERM')
    return this.#exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}

interface Urls {
  readonly etcd: string
  readonly server: string
}

/** etcd and kube-apiserver of a folder, with the files and flags of controller-runtime's envtest (internal/testing/controlplane). */
export class EnvtestProcesses implements AsyncDisposable {
  readonly etcd: Started
  readonly server: Started
  readonly #urls: Urls
  readonly #folder: TemporaryFolder
  readonly #agent: https.Agent

  private constructor(
    programs: readonly [etcd: Started, server: Started],
    urls: Urls,
    folder: TemporaryFolder,
    agent: https.Agent,
  ) {
    ;[this.etcd, this.server] = programs
    this.#urls = urls
    this.#folder = folder
    this.#agent = agent
  }

  /** Starts both and waits until they are healthy. */
  static async start(assets: string, env: Record<string, string> = {}): Promise<EnvtestProcesses> {
    const folder = new TemporaryFolder()
    const file = (name: string): string => join(folder.path, name)
    const now = Date.now()
    const serving = CertificateAuthority.create({ commonName: 'serving', now })
    const clients = CertificateAuthority.create({ commonName: 'clients', now })
    const { cert, key } = new CertificateAuthority(serving).issueServing({ hosts: ['127.0.0.1'], now })
    const client = new CertificateAuthority(clients).issueClient({
      commonName: 'admin',
      organizations: ['system:masters'],
      now,
    })
    const signer = CertificateAuthority.create({ commonName: 'tokens', now })
    const files = {
      'apiserver.crt': cert,
      'apiserver.key': key,
      'client-cert-auth-ca.crt': clients.cert,
      'sa-signer.key': signer.key,
      'sa-signer.crt': signer.cert,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(file(name), text)
    const [etcdPort, peerPort, port] = await Promise.all([freePort(), freePort(), freePort()])
    const etcdUrl = `http://127.0.0.1:${etcdPort}`
    const all = { ...environment(await upProgram()), KUBEWRIGHT_CONTROLLERS: '', ...env }
    const etcd = new Started(
      join(assets, 'etcd'),
      [
        `--advertise-client-urls=${etcdUrl}`,
        `--data-dir=${folder.path}`,
        `--listen-client-urls=${etcdUrl}`,
        `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
        '--unsafe-no-fsync=true',
      ],
      all,
    )
    const server = new Started(
      join(assets, 'kube-apiserver'),
      [
        '--allow-privileged=true',
        '--authorization-mode=RBAC',
        '--bind-address=127.0.0.1',
        `--cert-dir=${folder.path}`,
        `--client-ca-file=${file('client-cert-auth-ca.crt')}`,
        '--disable-admission-plugins=ServiceAccount',
        `--etcd-servers=${etcdUrl}`,
        `--secure-port=${port}`,
        `--service-account-issuer=https://127.0.0.1:${port}/`,
        `--service-account-key-file=${file('sa-signer.crt')}`,
        `--service-account-signing-key-file=${file('sa-signer.key')}`,
        '--service-cluster-ip-range=10.0.0.0/24',
        '--watch-cache=true',
      ],
      all,
    )
    const agent = new https.Agent({ keepAlive: true, ca: serving.cert, cert: client.cert, key: client.key })
    const processes = new EnvtestProcesses(
      [etcd, server],
      { etcd: etcdUrl, server: `https://127.0.0.1:${port}` },
      folder,
      agent,
    )
    try {
      await Promise.all([etcd.ready(), server.ready()])
    } catch (error) {
      await processes[Symbol.asyncDispose]()
      throw error
    }
    return processes
  }

  /** Sends a request as a member of system:masters. The certificate of the server is verified with the CA of the folder. */
  send(method: string, path: string, body?: unknown): Promise<Reply> {
    return reply(
      (done) =>
        https.request(
          new URL(path, this.#urls.server),
          { method, agent: this.#agent, headers: { 'content-type': 'application/json' } },
          done,
        ),
      body,
    )
  }

  /** The health checks that envtest polls, without credentials. */
  async health(): Promise<readonly number[]> {
    const etcd = await reply((done) => http.request(`${this.#urls.etcd}/health`, done))
    const agent = new https.Agent({ rejectUnauthorized: false })
    const server = await reply((done) => https.request(`${this.#urls.server}/healthz`, { agent }, done))
    agent.destroy()
    return [etcd.status, server.status]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy()
    await Promise.all([this.etcd[Symbol.asyncDispose](), this.server[Symbol.asyncDispose]()])
    this.#folder[Symbol.dispose]()
  }
}

function reply(
  open: (done: (response: http.IncomingMessage) => void) => http.ClientRequest,
  body?: unknown,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = open((response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, text, body: text.startsWith('{') ? JSON.parse(text) : undefined })
      })
    })
    request.on('error', reject)
    request.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
