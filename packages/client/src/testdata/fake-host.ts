import type { Command, CommandResult, ConfigHost } from '../config/config-host.ts'

/** A machine whose files, environment and programs the test defines. */
export class FakeHost implements ConfigHost {
  env: Record<string, string> = {}
  readonly home = '/home/ada'
  readonly files = new Map<string, string>()
  readonly reads: string[] = []
  readonly runs: Command[] = []
  program: (command: Command) => CommandResult | Error = () => new Error('spawn ENOENT')

  async readFile(path: string): Promise<string> {
    this.reads.push(path)
    const text = this.files.get(path)
    if (text !== undefined) return text
    throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' })
  }

  async run(command: Command): Promise<CommandResult> {
    this.runs.push(command)
    const result = this.program(command)
    if (result instanceof Error) throw result
    return result
  }
}

/** PEM text with arbitrary content. */
export const pem = (text: string): string => `-----BEGIN ${text}-----\n`
export const base64 = (text: string): string => Buffer.from(text).toString('base64')
