import { execFile, execFileSync, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The kubectl to test with. @default the one on PATH */
const program = process.env['KUBEWRIGHT_KUBECTL'] ?? 'kubectl'

/** The reason why kubectl cannot be tested here; undefined when it can. */
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

/** The reason why a test of newer commands, flags or formats cannot run with this kubectl; undefined when it can. */
export function kubectlTooOld(): string | undefined {
  const minor = kubectlMinor()
  return minor >= 28 ? undefined : `kubectl 1.${minor} lacks features that this test uses: use 1.28 or newer`
}

/** The result of a kubectl run. */
export interface KubectlResult {
  readonly code: number
  readonly out: string
  readonly error: string
}

/** kubectl with its own kubeconfig and caches. */
export class Kubectl {
  readonly #environment: NodeJS.ProcessEnv

  constructor(kubeconfig: string, home: string, more: NodeJS.ProcessEnv = {}) {
    const own = { KUBECONFIG: kubeconfig, HOME: home, KUBECACHEDIR: `${home}/cache` }
    this.#environment = { ...process.env, ...own, ...more }
  }

  /** Runs kubectl. A non-zero exit code is a result, not an error. */
  try(args: readonly string[], input?: string): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const child = execFile(
        program,
        args,
        { env: this.#environment, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 },
        (error, out, stderr) => {
          resolve({ code: error ? Number(error.code ?? -1) : 0, out, error: stderr })
        },
      )
      child.stdin?.end(input)
    })
  }

  /** Runs kubectl and returns its output. Throws when it fails. */
  async run(args: readonly string[], input?: string): Promise<string> {
    const { code, out, error } = await this.try(args, input)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')} exited with ${code}: ${error}`)
    return out
  }

  /** Starts kubectl and collects its output lines until it is disposed. */
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
      /** Resolves when there are at least `count` lines. */
      next: async (count) => {
        while (lines.length < count) await new Promise<void>((resolve) => (wake = resolve))
      },
      [Symbol.dispose]: () => void child.kill('SIGKILL'),
    }
  }
}
