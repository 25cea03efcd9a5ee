import { execFile, execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The kubectl to test with. @default the one on PATH */
const program = process.env['KUBEWRIGHT_KUBECTL'] ?? 'kubectl'

/** Why kubectl cannot be tested here; undefined when it can. */
export function kubectlMissing(): string | undefined {
  try {
    execFileSync(program, ['version', '--client'], { stdio: 'ignore' })
    return undefined
  } catch {
    return `${program} cannot be run: install kubectl, or name one in KUBEWRIGHT_KUBECTL`
  }
}

/** The minor version of kubectl; 0 when it cannot be run. */
export function kubectlMinor(): number {
  try {
    const text = execFileSync(program, ['version', '--client', '-o', 'json'], { encoding: 'utf8', stdio: 'pipe' })
    const { clientVersion } = JSON.parse(text) as { clientVersion: { minor: string } }
    return Number.parseInt(clientVersion.minor, 10)
  } catch {
    return 0
  }
}

/** Why a test that uses newer commands, flags or formats cannot run with this kubectl; undefined when it can. */
export function kubectlTooOld(): string | undefined {
  const minor = kubectlMinor()
  return minor >= 28 ? undefined : `kubectl 1.${minor} does not know what this test uses: 1.28 or newer does`
}

/** What a run of kubectl gave. */
export interface KubectlResult {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** kubectl with a kubeconfig and caches of its own. */
export class Kubectl {
  readonly #environment: NodeJS.ProcessEnv

  constructor(kubeconfig: string, home: string, more: NodeJS.ProcessEnv = {}) {
    const own = { KUBECONFIG: kubeconfig, HOME: home, KUBECACHEDIR: `${home}/cache` }
    this.#environment = { ...process.env, ...own, ...more }
  }

  /** Runs kubectl; a failure is a result, too. */
  try(args: readonly string[], input?: string): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const child = execFile(
        program,
        args,
        { env: this.#environment, timeout: 30_000, maxBuffer: 64 * 1024 * 1024 },
        (error, out, stderr) => {
          resolve({ code: error ? Number(error.code ?? -1) : 0, out, error: stderr })
        },
      )
      child.stdin?.end(input)
    })
  }

  /** Runs kubectl and returns what it printed; throws when it fails. */
  async run(args: readonly string[], input?: string): Promise<string> {
    const { code, out, error } = await this.try(args, input)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${error}`)
    return out
  }

  /** Starts kubectl and collects its lines until it is disposed. */
  follow(args: readonly string[]): Disposable & { readonly lines: string[]; next(count: number): Promise<void> } {
    const child = spawn(program, args, { env: this.#environment, stdio: ['ignore', 'pipe', 'ignore'] })
    const lines: string[] = []
    let wake = (): void => undefined
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      wake()
    })
    return {
      lines,
      /** Resolves when so many lines have come. */
      next: async (count) => {
        while (lines.length < count) await new Promise<void>((resolve) => (wake = resolve))
      },
      [Symbol.dispose]: () => void child.kill('SIGKILL'),
    }
  }
}
