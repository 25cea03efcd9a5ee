import { systemClock } from '@kubewright/base'
import { describe, expect, it } from 'vitest'
import { commands } from './all-commands.ts'
import { runCommand } from './run-command.ts'

function run(...args: string[]): Promise<{ code: number; out: string[]; notes: string[] }> {
  return runUntil(AbortSignal.abort(), ...args)
}

async function runUntil(signal: AbortSignal, ...args: string[]): ReturnType<typeof run> {
  const out: string[] = []
  const notes: string[] = []
  const code = await runCommand(args, {
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
    env: {},
    clock: systemClock,
    startedAt: 0,
    signal,
  })
  return { code, out, notes }
}

describe('runCommand()', () => {
  it('lists the commands', async () => {
    const { code, out } = await run('--help')
    expect(code).toBe(0)
    expect(out.join('\n')).toMatch(/^Usage: kubewright COMMAND(.|\n)*\n {2}up +Start a Kubernetes control plane/)
    expect(
      out
        .join('\n')
        .split('\n')
        .filter((line) => line.length > 80),
    ).toEqual([])
    expect((await run()).code).toBe(2)
  })

  it('shows the help of a command instead of running it', async () => {
    const { code, out } = await run('up', '--help')
    expect(code).toBe(0)
    expect(out.join('\n')).toContain('--client-ca FILE')
  })

  it('leaves what follows two dashes to the command', async () => {
    const { code, out } = await run('run', '/nowhere', '--', '--help')
    expect({ code, out }).toEqual({ code: 2, out: [] })
  })

  it.each([...commands])('keeps the help of %s within 80 columns', async (_, { load }) => {
    const { help } = await load()
    expect(help.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it('answers mistakes with where to read on, and with exit code 2', async () => {
    expect(await run('pu')).toEqual({
      code: 2,
      out: [],
      notes: ['kubewright: unknown command "pu": did you mean up?', 'See kubewright --help'],
    })
    expect(await run('up', '--port', 'x')).toEqual({
      code: 2,
      out: [],
      notes: ['kubewright up: --port needs a number from 0 to 65535, not "x"', 'See kubewright up --help'],
    })
  })

  it('answers failures in one line and with exit code 1', async () => {
    expect(await run('up', '--memory', '--client-ca', '/nowhere/ca.crt')).toEqual({
      code: 1,
      out: [],
      notes: ['kubewright up: /nowhere/ca.crt does not exist'],
    })
  })

  it('shows the help of a command after help, and its version', async () => {
    expect(await run('help', 'create', 'api')).toEqual(await run('create', 'api', '--help'))
    expect((await run('help', 'create', 'api')).out.join('')).toMatch(/^Usage: kubewright create api/)
    expect(await run('--version')).toEqual({ code: 0, out: [expect.stringMatching(/^kubewright \d/)], notes: [] })
  })

  it('names commands of several words', async () => {
    const { signal } = new AbortController()
    expect((await runUntil(signal, 'create', 'api', '--knd', 'Home')).notes).toEqual([
      'kubewright create api: unknown option --knd: did you mean --kind?',
      'See kubewright create api --help',
    ])
  })

  it('does not wait for a command that cannot notice that it shall end', async () => {
    // It would read the standard input, which has no end here.
    expect(await run('validate', '-')).toEqual({ code: 130, out: [], notes: ['kubewright validate: interrupted'] })
  })
})
