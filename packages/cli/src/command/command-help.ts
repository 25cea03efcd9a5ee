import { type Flag, flagsHelp, twoColumns, wrapText } from '@kubewright/base'
import type { ArgumentTable } from './arguments.ts'
import type { Command, CommandGroup } from './command.ts'

const helpFlag: Flag = { short: 'h', help: 'Show this help' }

/** The flags that every command has. */
export const commonFlags: { readonly help: Flag } = { help: helpFlag }

/** The widest help: it is written for terminals of this many columns. */
const fullWidth = 80
const leastWidth = 40

/** The text of `kubewright COMMAND --help`, for a terminal of so many columns. */
export function commandHelp(command: Command, columns: number = fullWidth): string {
  const width = Math.max(Math.min(columns, fullWidth), leastWidth)
  const { description, args, flags, forwards, examples = [] } = command
  const operands = [
    ...Object.values(args).map(({ label, help }) => [label, help] as const),
    ...(forwards === undefined ? [] : [[forwards.label, forwards.help] as const]),
  ]
  const sections = [
    usageLines(command)
      .map((line, index) => `${index === 0 ? 'Usage: ' : '       '}${line}`)
      .join('\n'),
    wrapParagraphs(description, width),
    ...(operands.length === 0 ? [] : [`Arguments\n${twoColumns(operands, width)}`]),
    flagsHelp({ ...flags, ...commonFlags }, { columns: width }),
    ...(hasSwitches(command) ? [wrapText(switchNote, width)] : []),
    ...(examples.length === 0 ? [] : [`Examples\n${examples.map(exampleLines).join('\n')}`]),
  ]
  return sections.join('\n\n')
}

const switchNote = 'Switches are off unless stated otherwise. --no-NAME turns one off.'

function hasSwitches({ flags }: Command): boolean {
  return Object.values(flags).some(({ value, hidden }) => value === undefined && !hidden)
}

/** The usage lines of a command, each a whole command line. */
export function usageLines({ name, usage, args, flags, forwards }: Command): string[] {
  if (usage !== undefined) return usage.map((form) => `kubewright ${name} ${form}`)
  const options = Object.keys(flags).length === 0 ? [] : ['[OPTIONS]']
  const forwarded =
    forwards === undefined ? [] : [forwards.from === 'dashes' ? `[-- ${forwards.label}]` : `[${forwards.label}]`]
  return [['kubewright', name, ...operandForms(args), ...options, ...forwarded].join(' ')]
}

function operandForms(args: ArgumentTable): string[] {
  return Object.values(args).map(({ label, optional, many }) => {
    const form = many ? `${label}...` : label
    return optional ? `[${form}]` : form
  })
}

/** The text of `kubewright GROUP --help`. */
export function groupHelp({ name, commands }: CommandGroup, columns: number = fullWidth): string {
  const width = Math.max(Math.min(columns, fullWidth), leastWidth)
  const rows = commands.map((command) => [secondWord(command), command.summary] as const)
  return [
    `Usage: kubewright ${name} COMMAND [OPTIONS]`,
    `Commands\n${twoColumns(rows, width)}`,
    wrapText(`Run kubewright ${name} COMMAND --help for details.`, width),
  ].join('\n\n')
}

/** The word after that of the group: `api` of `create api`. */
export function secondWord({ name }: Pick<Command, 'name'>): string {
  return name.slice(name.indexOf(' ') + 1)
}

/** The text of `kubewright --help`. */
export function overview(all: readonly (Command | CommandGroup)[], columns: number = fullWidth): string {
  const width = Math.max(Math.min(columns, fullWidth), leastWidth)
  const variables = [
    ['NO_COLOR=1', 'Disable colours'],
    ['FORCE_COLOR=1', 'Enable colours where the output is not a terminal'],
    ['KUBEWRIGHT_DEBUG=1', 'Print the stack trace of an error'],
  ] as const
  return [
    'Usage: kubewright COMMAND [OPTIONS]',
    `Commands\n${twoColumns(
      all.map(({ name, summary }) => [name, summary] as const),
      width,
    )}`,
    `Environment\n${twoColumns(variables, width)}`,
    wrapText('Run kubewright COMMAND --help for details, and kubewright --version for the version.', width),
  ].join('\n\n')
}

/** Wraps paragraphs, whatever their line breaks in the source. Lines that begin with two blanks keep their layout. */
function wrapParagraphs(text: string, width: number): string {
  const lines: string[] = []
  let prose: string[] = []
  const flush = (): void => {
    if (prose.length > 0) lines.push(wrapText(prose.join(' '), width))
    prose = []
  }
  for (const line of text.trim().split('\n')) {
    if (line !== '' && !line.startsWith('  ')) prose.push(line)
    else {
      flush()
      lines.push(line)
    }
  }
  flush()
  return lines.join('\n')
}

function exampleLines(example: string): string {
  return `  kubewright ${example.replaceAll('\n', '\n    ')}`
}
