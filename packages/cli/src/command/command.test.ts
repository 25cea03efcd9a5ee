import { systemClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { type CommandInput, defineCommand, type ForwardedArguments } from './command.ts'
import { commandHelp } from './command-help.ts'
import { referencePage } from './reference-page.ts'

const context = {
  out: () => undefined,
  note: () => undefined,
  env: {},
  clock: systemClock,
  startedAt: 0,
  signal: new AbortController().signal,
}

/** Runs a command with these arguments, and returns the input that its implementation receives. */
async function inputOf(args: string, forwards?: ForwardedArguments): Promise<CommandInput> {
  let received: CommandInput | undefined
  const command = defineCommand({
    name: 'paint',
    summary: 'Paint a home',
    description: 'Paint a home.',
    args: { home: { label: 'HOME', help: 'Home to paint', fix: 'name a home', complete: 'files' } },
    flags: { color: { value: 'COLOR', help: 'Use this color', default: 'red' }, dry: { help: 'Do not paint' } },
    ...(forwards === undefined ? {} : { forwards }),
    run: async (input) => {
      received = input as unknown as CommandInput
      return 0
    },
  })
  await command.run(args === '' ? [] : args.split(' '), context)
  return received!
}

const forwarding = (from: ForwardedArguments['from']): ForwardedArguments => ({
  label: 'FLAGS',
  help: 'Flags of the painter',
  from,
  flags: async () => ({}),
})

describe('defineCommand()', () => {
  test('parses flags and arguments before it runs the command', async () => {
    expect(await inputOf('--dry cosy')).toEqual({
      flags: { color: 'red', dry: true },
      args: { home: 'cosy' },
      forwarded: [],
    })
    expect(await inputOf('-- --dry')).toMatchObject({ args: { home: '--dry' }, flags: { dry: undefined } })
  })

  test('forwards arguments after two dashes, or from the first flag on', async () => {
    expect(await inputOf('cosy --dry -- --fast', forwarding('dashes'))).toMatchObject({
      flags: { dry: true },
      forwarded: ['--fast'],
    })
    expect(await inputOf('cosy --fast x', forwarding('first flag'))).toMatchObject({
      args: { home: 'cosy' },
      flags: { dry: undefined },
      forwarded: ['--fast', 'x'],
    })
    expect((await inputOf('cosy -- --fast', forwarding('first flag'))).forwarded).toEqual(['--fast'])
  })

  test.each([
    ['', 'HOME is missing: name a home'],
    ['a b', 'unexpected argument "b": the command takes only one HOME'],
    ['a --colour red', 'unknown flag --colour: did you mean --color?'],
  ])('rejects %j before it runs the command', async (args, message) => {
    await expect(inputOf(args)).rejects.toThrow(message)
  })
})

const command = defineCommand({
  name: 'paint',
  summary: 'Paint a home',
  description: `
Paint a home, and print
one line for each wall:
  WALL painted

Second paragraph.`,
  args: { home: { label: 'HOME', optional: true, help: 'Home to paint' } },
  flags: { color: { value: 'COLOR', help: 'Use this color', default: 'red' } },
  examples: ['paint cosy \\\n--color blue'],
  run: async () => 0,
})

describe('commandHelp()', () => {
  test('derives usage, arguments and options, and keeps indented lines', () => {
    expect(commandHelp(command, 60)).toBe(`Usage: kubewright paint [HOME] [OPTIONS]

Paint a home, and print one line for each wall:
  WALL painted

Second paragraph.

Arguments
  HOME  Home to paint

Options
  --color COLOR  Use this color (default red)
  -h, --help     Show this help

Examples
  kubewright paint cosy \\
    --color blue`)
  })
})

describe('referencePage()', () => {
  test('lists commands with their flags and defaults, and escapes cells', () => {
    const page = referencePage([command], { mode: { value: 'a|b', help: 'Use <this>' } })
    expect(page).toContain('| [`paint`](#paint) | Paint a home |')
    expect(page).toContain(
      'Paint a home, and print\none line for each wall:\n\n```text\nWALL painted\n```\n\nSecond paragraph.',
    )
    expect(page).toContain('| `--color COLOR` | Use this color | red |')
    expect(page).toContain('| Use &lt;this> | none |')
  })
})
