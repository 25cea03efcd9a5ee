import { parseRFC3339 } from '@kubewright/api'
import { type Clock, errorText } from '@kubewright/base'
import type { Credentials } from '../rest/credentials.ts'
import { CredentialsError } from './config-error.ts'
import type { ConfigHost } from './config-host.ts'
import type { KubeconfigEntry } from './kubeconfig.ts'
import { resolveCommand } from './resolve-command.ts'

/** The credential that a plugin returned. */
export interface ExecCredential {
  readonly token?: string | undefined
  /** PEM. Both or neither are present. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** Milliseconds since the epoch. */
  readonly expiresAt?: number | undefined
}

/** Options of {@link ExecCredentials}. */
export interface ExecCredentialsOptions {
  readonly host: ConfigHost
  readonly clock: Clock
  /** `users[...].user.exec` of the kubeconfig. */
  readonly exec: KubeconfigEntry
  /** Passed to the plugin when the configuration requests it. */
  readonly cluster: Readonly<Record<string, unknown>>
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']

/**
 * Credentials of an exec plugin. The plugin runs on demand; its result is cached until it expires or the server rejects
 * it.
 */
export class ExecCredentials implements Credentials {
  readonly #options: ExecCredentialsOptions
  readonly #apiVersion: string
  #current: ExecCredential | undefined
  #running: Promise<ExecCredential> | undefined

  constructor(options: ExecCredentialsOptions) {
    const { exec } = options
    this.#options = options
    const apiVersion = exec.text('apiVersion')
    if (apiVersion === undefined) throw exec.error('apiVersion', 'must be specified')
    if (!versions.includes(apiVersion)) {
      throw exec.error('apiVersion', `must be one of ${versions.join(', ')}, not ${JSON.stringify(apiVersion)}`)
    }
    this.#apiVersion = apiVersion
    if (exec.text('command') === undefined) throw exec.error('command', 'must be specified')
    const mode = exec.text('interactiveMode') ?? (apiVersion === versions[1] ? 'IfAvailable' : undefined)
    if (mode === undefined) throw exec.error('interactiveMode', 'must be specified')
    if (mode === 'Always') throw exec.error('interactiveMode', 'is Always, but the plugin cannot prompt the user here')
    if (mode !== 'Never' && mode !== 'IfAvailable')
      throw exec.error('interactiveMode', `${JSON.stringify(mode)} is unknown`)
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { token } = await this.credential()
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  renew(): boolean {
    this.#current = undefined
    return true
  }

  /** The cached credential, or that of a new plugin run. Concurrent callers share one run. */
  credential(): Promise<ExecCredential> | ExecCredential {
    const current = this.#current
    if (current && (current.expiresAt ?? Number.POSITIVE_INFINITY) > this.#options.clock.now()) return current
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
    return this.#running
  }

  async #run(): Promise<ExecCredential> {
    const { host, exec, cluster } = this.#options
    const spec = { interactive: false, ...(exec.flag('provideClusterInfo') ? { cluster } : {}) }
    const info = JSON.stringify({ apiVersion: this.#apiVersion, kind: 'ExecCredential', spec })
    const env: Record<string, string> = { KUBERNETES_EXEC_INFO: info }
    for (const variable of exec.entries('env')) {
      const name = variable.text('name')
      if (name === undefined) throw variable.error('name', 'must be specified')
      env[name] = variable.text('value') ?? ''
    }
    const command = resolveCommand(exec.text('command') ?? '', exec.file)
    const hint = exec.text('installHint')
    const result = await host.run({ command, args: exec.texts('args'), env }).catch((error: unknown) => {
      const isMissing = (error as { code?: unknown }).code === 'ENOENT'
      const why = isMissing ? 'was not found: install it or add it to PATH' : `cannot be run: ${errorText(error)}`
      throw this.#error(`${why}${hint === undefined ? '' : `\n\n${hint}`}`, error)
    })
    if (result.exitCode !== 0) {
      const output = result.stderr.trim()
      throw this.#error(`failed with exit code ${result.exitCode}${output === '' ? '' : `: ${output}`}`)
    }
    this.#current = this.#read(result.stdout)
    return this.#current
  }

  #read(stdout: string): ExecCredential {
    let answer: { apiVersion?: unknown; status?: Record<string, unknown> | undefined }
    try {
      answer = JSON.parse(stdout) as typeof answer
    } catch {
      // The parse error would quote the output, which may contain a token.
      throw this.#error('did not print JSON')
    }
    if (answer.apiVersion !== this.#apiVersion) {
      throw this.#error(
        `is configured to use API version ${this.#apiVersion}, but returned ${String(answer.apiVersion)}`,
      )
    }
    const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status ?? {}
    const text = (value: unknown): value is string => typeof value === 'string' && value !== ''
    if (text(cert) !== text(key)) throw this.#error('returned only certificate or key, not both')
    if (!text(token) && !text(cert)) throw this.#error("didn't return a token or cert/key pair")
    return {
      ...(text(token) ? { token } : {}),
      ...(text(cert) && text(key) ? { cert, key } : {}),
      ...(text(expirationTimestamp) ? { expiresAt: this.#expiry(expirationTimestamp) } : {}),
    }
  }

  #expiry(text: string): number {
    try {
      parseRFC3339(text)
    } catch (error) {
      throw this.#error(`returned expirationTimestamp ${JSON.stringify(text)}, which is not a time`, error)
    }
    return Date.parse(text)
  }

  #error(problem: string, cause?: unknown): CredentialsError {
    const { exec } = this.#options
    return new CredentialsError(`${exec.file}: ${exec.path}: plugin ${exec.text('command')} ${problem}`, cause)
  }
}
