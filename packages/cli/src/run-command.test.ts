import { systemClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { allCommands } from './all-commands.ts'
import { commandHelp, groupHelp } from './command/command-help.ts'
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
  test('lists the commands', async () => {
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

  test('shows the help of a command instead of running it', async () => {
    const { code, out } = await run('up', '--help')
    expect(code).toBe(0)
    expect(out.join('\n')).toContain('--client-ca FILE')
  })

  test('passes arguments after two dashes to the command', async () => {
    const { code, out } = await run('run', '/nowhere', '--', '--help')
    expect({ code, out }).toEqual({ code: 2, out: [] })
  })

  const every = allCommands.flatMap((one) => ('commands' in one ? one.commands : [one]))

  test.each(every.map((one) => [one.name, one] as const))('keeps the help of %s within 80 columns', (_, command) => {
    const tooWide = (help: string, columns: number): string[] =>
      help.split('\n').filter((line) => line.length > columns)
    expect(tooWide(commandHelp(command), 80)).toEqual([])
    for (const group of allCommands) if ('commands' in group) expect(tooWide(groupHelp(group), 80)).toEqual([])
  })

  test.each(every.map((one) => [one.name, one] as const))('describes %s in plain help texts', (_, command) => {
    for (const [name, { help }] of Object.entries(command.flags)) {
      expect(help, name).toMatch(/^[A-Z$-]/)
      expect(help, name).not.toMatch(/\.$/)
    }
    expect(command.summary).toMatch(/^[A-Z].*[^.]$/)
  })

  test('reports a mistake in the arguments with a pointer to the help and exit code 2', async () => {
    expect(await run('pu')).toEqual({
      code: 2,
      out: [],
      notes: ['kubewright: unknown command "pu": did you mean up?', 'See kubewright --help'],
    })
    expect(await run('up', '--port', 'x')).toEqual({
      code: 2,
      out: [],
      notes: ['kubewright up: --port must be a number from 0 to 65535, not "x"', 'See kubewright up --help'],
    })
  })

  test('reports a failure in one line with exit code 1', async () => {
    expect(await run('up', '--memory', '--client-ca', '/nowhere/ca.crt')).toEqual({
      code: 1,
      out: [],
      notes: ['kubewright up: /nowhere/ca.crt does not exist'],
    })
  })

  test('shows the help of a command after help, and the version', async () => {
    expect(await run('help', 'create', 'api')).toEqual(await run('create', 'api', '--help'))
    expect((await run('help', 'create', 'api')).out.join('')).toMatch(/^Usage: kubewright create api/)
    expect(await run('--version')).toEqual({ code: 0, out: [expect.stringMatching(/^kubewright \d/)], notes: [] })
  })

  test('names the command of a group in errors', async () => {
    const { signal } = new AbortController()
    expect((await runUntil(signal, 'create', 'api', '--knd', 'Home')).notes).toEqual([
      'kubewright create api: unknown flag --knd: did you mean --kind?',
      'See kubewright create api --help',
    ])
    expect((await runUntil(signal, 'create', 'apo')).notes).toEqual([
      'kubewright create: unknown command "apo": did you mean api?',
      'See kubewright create --help',
    ])
    expect((await runUntil(signal, 'crd')).notes[0]).toBe('kubewright crd: COMMAND is missing: give diff')
  })

  test.each([
    [['dev', 'a', 'b'], 'kubewright dev: unexpected argument "b": the command takes only one ENTRY'],
    [['up', 'extra'], 'kubewright up: unexpected argument "extra": the command takes no argument besides flags'],
    [['validate'], 'kubewright validate: FILE is missing: name the files to validate, or - for the standard input'],
    [['completion', 'tcsh'], 'kubewright completion: SHELL must be bash, zsh or fish, not "tcsh"'],
  ])('refuses %j', async (args, message) => {
    const { code, notes } = await runUntil(new AbortController().signal, ...args)
    expect({ code, first: notes[0] }).toEqual({ code: 2, first: message })
  })

  test('abandons a command that does not watch the signal', async () => {
    // It reads the standard input, which never ends here.
    expect(await run('validate', '-')).toEqual({ code: 130, out: [], notes: ['kubewright validate: interrupted'] })
  })
})
