import type { Command } from '../command.ts'

/** A flag as a help text has it. */
export interface HelpFlag {
  /** Without dashes. */
  readonly name: string
  /** The single letter, if there is one. */
  readonly short?: string
  /** What its value is called, such as `FILE`; not there for a switch. */
  readonly value?: string
  /** The first line of its text. */
  readonly text: string
}

/** What can be typed after some words. */
export interface HelpWords {
  /** The words: `['create', 'api']`. */
  readonly words: readonly string[]
  readonly summary: string
  readonly flags: readonly HelpFlag[]
}

/**
 * What a command takes, read from its help texts, which are what people read too: flags in lines such as
 * `  -n, --namespace NAME  Text`, and second words such as `diff` in `Usage: kubewright crd diff`.
 */
export function readHelp(command: Command): HelpWords[] {
  const { name, summary, help } = command
  const own: HelpWords = { words: [name], summary, flags: flagsIn(help) }
  return [
    own,
    ...secondWords(command).map(({ word, text }) => ({
      words: [name, word],
      summary: text,
      flags: flagsIn(command.helpFor?.([word]) ?? help),
    })),
  ]
}

const flagLine = /^ {2,}(?:-(\w), )?--([a-z][a-z-]*)(?:[ =]\[?([A-Za-z][\w,|[\]]*))?(?: {2,}(.*)|$)/

function flagsIn(help: string): HelpFlag[] {
  const flags = help.split('\n').flatMap((line): HelpFlag[] => {
    const [, short, name, value, text = ''] = flagLine.exec(line) ?? []
    if (name === undefined) return []
    return [{ name, ...(short === undefined ? {} : { short }), ...(value === undefined ? {} : { value }), text }]
  })
  return [...flags, { name: 'help', short: 'h', text: 'Tell how to use the command' }]
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
