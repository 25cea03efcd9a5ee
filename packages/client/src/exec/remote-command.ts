import { ApiError, isApiError, newInternalError, statusFromJson } from '@kubewright/api'
import { KubewrightError } from '@kubewright/base'
import { ByteStream } from '../transport/byte-stream.ts'
import type { MessageConnection } from '../transport/transport.ts'

/** The protocols of exec and attach, preferred first. Only v5 can signal the end of the input. */
export const remoteCommandProtocols: readonly string[] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 }

/**
 * A command that runs in a container. Read or discard both outputs: the command is paused while a mebibyte of either is
 * unread.
 */
export class RemoteCommand implements Disposable {
  readonly stdout: ByteStream
  readonly stderr: ByteStream
  /** The exit code of the command. Rejects when it is not known. */
  readonly exitCode: Promise<number>
  readonly #connection: MessageConnection

  constructor(connection: MessageConnection) {
    this.#connection = connection
    // Discarding an output must not end the command.
    this.stdout = new ByteStream(() => undefined)
    this.stderr = new ByteStream(() => undefined)
    this.exitCode = this.#pump()
    // Mark the rejection as handled for callers that never await `exitCode`.
    this.exitCode.catch(() => undefined)
  }

  /** Writes to the command's standard input. */
  write(input: Uint8Array | string): Promise<void> {
    const bytes = typeof input === 'string' ? Buffer.from(input) : input
    return this.#send(channels.stdin, bytes)
  }

  /** Ends the command's standard input. Requires Kubernetes 1.30 or later. */
  endInput(): Promise<void> {
    if (this.#connection.protocol !== remoteCommandProtocols[0]) {
      return Promise.reject(
        new KubewrightError(
          'KW_CONNECTION',
          `Cannot end the input: the server's protocol ${this.#connection.protocol} does not support it`,
        ),
      )
    }
    return this.#send(channels.close, Buffer.from([channels.stdin]))
  }

  /** Reports the size of the terminal. */
  resize(columns: number, rows: number): Promise<void> {
    return this.#send(channels.resize, Buffer.from(JSON.stringify({ Width: columns, Height: rows })))
  }

  /** Closes the connection. The container runtime decides whether the command continues. */
  close(): void {
    this.#connection.close()
  }

  /** Same as {@link close}. */
  [Symbol.dispose](): void {
    this.close()
  }

  #send(channel: number, bytes: Uint8Array): Promise<void> {
    return this.#connection.send(Buffer.concat([Buffer.from([channel]), bytes]))
  }

  async #pump(): Promise<number> {
    let exitCode: number | undefined
    try {
      for await (const message of this.#connection) {
        const bytes = message.subarray(1)
        if (message[0] === channels.error) exitCode = exitCodeOf(Buffer.from(bytes).toString())
        const output =
          message[0] === channels.stdout ? this.stdout : message[0] === channels.stderr ? this.stderr : undefined
        if (output && !output.write(bytes)) await output.drained()
      }
      if (exitCode === undefined) throw newInternalError(new Error('the command ended without an exit code'))
      return exitCode
    } catch (error) {
      // A received exit code is valid regardless of how the connection ends.
      if (exitCode !== undefined && !isApiError(error)) return exitCode
      this.stdout.fail(error)
      this.stderr.fail(error)
      throw error
    } finally {
      this.stdout.end()
      this.stderr.end()
    }
  }
}

function exitCodeOf(text: string): number {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw newInternalError(new Error(`the command failed: ${text}`))
  }
  // Kubelets send the Status of a command without its type, because nothing else is sent on this channel.
  const status = statusFromJson(typeof json === 'object' ? { kind: 'Status', apiVersion: 'v1', ...json } : json)
  if (status?.status === 'Success') return 0
  const code = status?.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message
  if (code !== undefined && /^\d+$/.test(code)) return Number(code)
  throw status ? new ApiError(status) : newInternalError(new Error(`the command failed: ${text}`))
}
