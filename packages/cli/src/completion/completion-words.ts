import { type Flag, type FlagTable, flagText } from '@kubewright/base'
import type { Argument, ArgumentTable } from '../command/arguments.ts'
import type { Command, CommandGroup } from '../command/command.ts'
import { commonFlags } from '../command/command-help.ts'

/** Lists that depend on the folder and the kubeconfig: the scripts call `kubewright completion --list NAME` for them. */
export const listNames = ['contexts', 'groups', 'versions', 'kinds', 'resources'] as const

/** The name of such a list. */
export type ListName = (typeof listNames)[number]

/** The values that a shell offers for a flag or an argument. */
export type ValueSource =
  | { readonly from: 'words'; readonly words: readonly string[] }
  | { readonly from: 'files' | 'folders' }
  | { readonly from: 'list'; readonly list: string }

/** A flag as a shell completes it. */
export interface CompletionFlag {
  /** Without dashes; of a negated switch with `no-`. */
  readonly name: string
  readonly short?: string | undefined
  /** The name of the value, such as `FILE`; absent for a switch. */
  readonly value?: string | undefined
  /** Whether the value may be left out and otherwise follows an equals sign, as in `--namespaced=false`. */
  readonly isOptional?: true | undefined
  readonly source?: ValueSource | undefined
  readonly text: string
}

/** The words and flags that can follow a command. */
export interface CompletionWords {
  /** The words of the command: `['create', 'api']`. */
  readonly words: readonly string[]
  readonly summary: string
  readonly flags: readonly CompletionFlag[]
  /** The values of arguments; absent for commands that take no arguments. */
  readonly operands?: ValueSource | undefined
}

/** The flags that can be typed instead of a command. */
export const globalFlags: readonly CompletionFlag[] = [
  { name: 'help', short: 'h', text: 'List the commands' },
  { name: 'version', text: 'Print the version' },
]

/** Derives the completion of a command or a group from its definition. */
export async function completionWords(command: Command | CommandGroup): Promise<CompletionWords[]> {
  if ('commands' in command) {
    const { name, summary, commands } = command
    const inner = await Promise.all(commands.map(completionWords))
    return [{ words: [name], summary, flags: flagsOf(commonFlags) }, ...inner.flat()]
  }
  const { name, summary, flags, args, forwards } = command
  const forwarded = forwards?.from === 'first flag' ? await forwards.flags() : {}
  const operands = operandsOf(args)
  return [
    {
      words: name.split(' '),
      summary,
      flags: flagsOf({ ...flags, ...forwarded, ...commonFlags }),
      ...(operands === undefined ? {} : { operands }),
    },
  ]
}

function flagsOf(table: FlagTable): CompletionFlag[] {
  return Object.entries(table).flatMap(([name, flag]) => (flag.hidden ? [] : [completionFlag(name, flag)]))
}

function completionFlag(name: string, flag: Flag): CompletionFlag {
  const { short, value, negated, default: byDefault } = flag
  const common = { ...(short === undefined ? {} : { short }), text: flagText(flag) }
  if (value === undefined) {
    if (negated) return { name: `no-${name}`, ...common }
    if (byDefault !== true) return { name, ...common }
    return { name, ...common, value: 'BOOL', isOptional: true, source: { from: 'words', words: ['true', 'false'] } }
  }
  const source = sourceOf(flag)
  return { name, ...common, value, ...(source === undefined ? {} : { source }) }
}

function sourceOf({ choices, complete }: Flag | Argument): ValueSource | undefined {
  if (choices !== undefined) return { from: 'words', words: choices }
  if (complete === undefined) return undefined
  return typeof complete === 'string' ? { from: complete } : { from: 'list', list: complete.list }
}

function operandsOf(args: ArgumentTable): ValueSource | undefined {
  return Object.values(args)
    .map(sourceOf)
    .find((source) => source !== undefined)
}

/** The entries of one word: commands, and groups. */
export function firstWords(all: readonly CompletionWords[]): CompletionWords[] {
  return all.filter(({ words }) => words.length === 1)
}

/** The commands of a group. */
export function secondWords(all: readonly CompletionWords[], group: string): CompletionWords[] {
  return all.filter(({ words }) => words.length === 2 && words[0] === group)
}
