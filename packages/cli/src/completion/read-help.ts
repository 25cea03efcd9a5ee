import type { Command } from '../command/command.ts'

/** What only the command itself can list: contexts of the kubeconfig, what the project has, kinds that can be explained. */
export const listNames = ['contexts', 'groups', 'versions', 'kinds', 'resources'] as const

/** A list that the command itself can give. */
export type ListName = (typeof listNames)[number]

/** Where the values of a flag or of an operand come from. */
export type ValueSource =
  | { readonly from: 'words'; readonly words: readonly string[] }
  | { readonly from: 'files' | 'folders' }
  | { readonly from: 'list'; readonly list: ListName }

/** A flag as a help text has it. */
export interface HelpFlag {
  /** Without dashes. */
  readonly name: string
  /** The single letter, if there is one. */
  readonly short?: string
  /** What its value is called, such as `FILE`; not there for a switch. */
  readonly value?: string
  /** Whether it can be written without its value, as switches that are on by default are. */
  readonly isOptional?: true
  /** What can be offered as its value. */
  readonly source?: ValueSource
  readonly text: string
}

/** What can be typed after some words. */
export interface HelpWords {
  /** The words: `['create', 'api']`. */
  readonly words: readonly string[]
  readonly summary: string
  readonly flags: readonly HelpFlag[]
  /** What can be offered where no flag is typed; not there for commands that take nothing else, or a further word. */
  readonly operands?: ValueSource
}

/**
 * What a command takes, read from its help texts, which are what people read too: flags in lines such as
 * `  -n, --namespace NAME  Text`, second words such as `diff` and operands such as `FILE` in `Usage: kubewright crd diff FILE`. Flags of a
 * program that it hands them on to are read from the help of that.
 */
export function readHelp(command: Command, handedOn = ''): HelpWords[] {
  const { name, summary, help } = command
  const seconds = secondWords(command)
  const flags = flagsIn(`${help}\n${handedOn}`)
  if (seconds.length === 0) return [withOperands({ words: [name], summary, flags }, help)]
  return [
    { words: [name], summary, flags: [helpFlag] },
    ...seconds.map(({ word, text }) => {
      const own = command.helpFor?.([word]) ?? help
      return withOperands({ words: [name, word], summary: text, flags: flagsIn(own) }, own)
    }),
  ]
}

const helpFlag: HelpFlag = { name: 'help', short: 'h', text: 'Tell how to use the command' }

const flagLine = /^ {2}(?:-(\w), )?--([a-z][a-z\d-]*)(?:, --[a-z-]+)*(\[=|[ =]\[?)?([A-Za-z][\w,|[\]]*)?(?: {2,}(.*)|$)/

function flagsIn(help: string): HelpFlag[] {
  const lines = help.split('\n')
  const flags = lines.flatMap((line, index): HelpFlag[] => {
    const [, short, name, separator, value, first = ''] = flagLine.exec(line) ?? []
    if (name === undefined) return []
    const more = lines.slice(index + 1)
    const end = more.findIndex((next) => !/^ {8,}\S/.test(next))
    const text = [first, ...more.slice(0, end < 0 ? undefined : end).map((next) => next.trim())].join(' ').trim()
    const flag = { name, ...(short === undefined ? {} : { short }), text }
    if (value === undefined) return [flag]
    if (separator === '[=') return [{ ...flag, value, isOptional: true, source: words('true', 'false') }]
    const source = sourceOf(value, name, text)
    return [{ ...flag, value, ...(source === undefined ? {} : { source }) }]
  })
  return [...flags.filter(({ name }) => name !== helpFlag.name), helpFlag]
}

const words = (...list: string[]): ValueSource => ({ from: 'words', words: list })

function sourceOf(value: string, name: string, text: string): ValueSource | undefined {
  if (/^[a-z]/.test(value)) return words(...value.split(/[|,[\]]+/).filter((word) => word !== ''))
  if (name === 'context') return { from: 'list', list: 'contexts' }
  switch (value) {
    case 'FILE':
    case 'MODULE':
      return { from: 'files' }
    case 'DIR':
      return { from: 'folders' }
    case 'GROUP':
      return { from: 'list', list: 'groups' }
    case 'VERSION':
      return { from: 'list', list: 'versions' }
    case 'KIND':
      return { from: 'list', list: 'kinds' }
    case 'WHICH':
    case 'LEVEL':
    case 'MODE': {
      // `strict, warn or ignore ...`; what follows an article is described, not named.
      const [named = ''] = /^[a-z0-9]+(?:, [a-z0-9]+)*,? or [a-z0-9]+/.exec(text) ?? []
      const list = named.split(/,? or |, /).filter((word) => word !== '' && word !== 'a')
      return list.length === 0 ? undefined : words(...list)
    }
    default:
      return undefined
  }
}

/** Adds what can be typed besides flags, as the lines have it that begin with `Usage:` and those below. */
function withOperands(one: HelpWords, help: string): HelpWords {
  const start = `kubewright ${one.words.join(' ')} `
  const usage = help.split('\n').filter((line) => /^(?:Usage: | {7})kubewright /.test(line) && line.includes(start))
  const named = usage.flatMap((line) => line.slice(line.indexOf(start) + start.length).match(/[A-Z]+/g) ?? [])
  if (named.some((name) => ['FILE', 'ENTRY', 'OLD', 'NEW'].includes(name)))
    return { ...one, operands: { from: 'files' } }
  if (named.includes('KIND')) return { ...one, operands: { from: 'list', list: 'resources' } }
  if (!named.includes('SHELL')) return one
  const shells = [...help.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, word = '']) => word)
  return { ...one, operands: words(...shells) }
}

function secondWords({ name, summary, help, helpFor }: Command): { readonly word: string; readonly text: string }[] {
  const listed = [...help.matchAll(/^ {2}([a-z]+) {2,}(.+)$/gm)]
    .map(([, word = '', text = '']) => ({ word, text }))
    .filter(({ word }) => helpFor !== undefined && helpFor([word]) !== help)
  const used = [...help.matchAll(new RegExp(`kubewright ${name} ([a-z]+) [A-Z-]`, 'g'))]
    .map(([, word = '']) => ({ word, text: summary }))
    .filter(({ word }) => !listed.some((other) => other.word === word))
  return [...new Map([...listed, ...used].map((one) => [one.word, one])).values()]
}
