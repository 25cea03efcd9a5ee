import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allCommands } from '../all-commands.ts'
import { type Command, type CommandGroup, defineCommand } from '../command/command.ts'
import { completionScript, type Shell, shells } from './completion-script.ts'
import { type CompletionWords, completionWords } from './completion-words.ts'

const common = { summary: "The summary: it's it", description: 'A command', run: async () => 0 }
const up = defineCommand({
  ...common,
  name: 'up',
  flags: {
    port: { value: 'N', help: 'Port to listen on', default: '80' },
    data: { value: 'DIR', complete: 'folders', help: 'Keep objects [here], or there', default: 'x' },
    memory: { help: 'Keep nothing', default: true },
    wait: { help: 'Do not wait', default: true, negated: true },
    license: { value: 'NAME', choices: ['apache2', 'mit', 'none'], help: 'License' },
    context: { value: 'NAME', complete: { list: 'contexts' }, help: 'Of the kubeconfig' },
    verbose: { short: 'v', help: 'Log' },
    make: { hidden: true, help: 'Ignored' },
    crd: { value: 'FILE', complete: 'files', help: 'CRDs' },
  },
})
const api = defineCommand({
  ...common,
  name: 'create api',
  flags: { kind: { value: 'KIND', short: 'k', complete: { list: 'kinds' }, help: 'Its kind' } },
})
const create: CommandGroup = { name: 'create', summary: 'Create', commands: [api] }
const diff = defineCommand({
  ...common,
  name: 'crd diff',
  flags: { all: { help: 'All' } },
  args: { old: { label: 'OLD', complete: 'files', help: 'Old' }, new: { label: 'NEW', help: 'New' } },
})
const crd: CommandGroup = { name: 'crd', summary: 'CRDs', commands: [diff] }
const shell = defineCommand({
  ...common,
  name: 'shell',
  args: { shell: { label: 'SHELL', choices: ['bash', 'zsh'], help: 'Shell' } },
})
const wordsOf = async (commands: readonly (Command | CommandGroup)[]): Promise<CompletionWords[]> =>
  (await Promise.all(commands.map(completionWords))).flat()
const all = await wordsOf([up, create, crd, shell])

describe('completionWords()', () => {
  test('derives flags with their texts and values', async () => {
    const words = (...list: string[]): object => ({ from: 'words', words: list })
    expect((await completionWords(up))[0]?.flags).toEqual([
      { name: 'port', value: 'N', text: 'Port to listen on (default 80)' },
      { name: 'data', value: 'DIR', text: 'Keep objects [here], or there (default x)', source: { from: 'folders' } },
      {
        name: 'memory',
        value: 'BOOL',
        text: 'Keep nothing (default true)',
        isOptional: true,
        source: words('true', 'false'),
      },
      { name: 'no-wait', text: 'Do not wait' },
      { name: 'license', value: 'NAME', text: 'License (default none)', source: words('apache2', 'mit', 'none') },
      {
        name: 'context',
        value: 'NAME',
        text: 'Of the kubeconfig (default none)',
        source: { from: 'list', list: 'contexts' },
      },
      { name: 'verbose', short: 'v', text: 'Log' },
      { name: 'crd', value: 'FILE', text: 'CRDs (default none)', source: { from: 'files' } },
      { name: 'help', short: 'h', text: 'Show this help' },
    ])
  })

  test('includes the flags of a program that the command forwards its arguments to', async () => {
    const flags = async () => ({ http2: { help: 'Offer HTTP/2' } })
    const run = defineCommand({
      ...common,
      name: 'run',
      forwards: { label: 'FLAGS', help: 'Flags', from: 'first flag', flags },
    })
    const [words] = await completionWords(run)
    expect(words?.flags.map(({ name }) => name)).toEqual(['http2', 'help'])
  })

  test('derives the commands of groups and the values of arguments', () => {
    expect(all.map(({ words, operands }) => [words.join(' '), operands?.from])).toEqual([
      ['up', undefined],
      ['create', undefined],
      ['create api', undefined],
      ['crd', undefined],
      ['crd diff', 'files'],
      ['shell', 'words'],
    ])
  })
})

const folder = mkdtempSync(join(tmpdir(), 'kubewright-completion-'))
const env = {
  ...process.env,
  HOME: folder,
  ZDOTDIR: folder,
  PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
  TERM: 'xterm',
}

beforeAll(() => {
  for (const name of ['bin', 'a folder', 'afternoon']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'a file.yaml'), '')
  const fake = join(folder, 'bin/kubewright')
  writeFileSync(fake, '#!/bin/sh\n[ "$1 $2" = "completion --list" ] && printf "%s-one\\n%s-two\\n" "$3" "$3"\n')
  chmodSync(fake, 0o755)
  for (const name of shells) writeFileSync(join(folder, `script.${name}`), completionScript(name, all))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    cwd: folder,
    env,
    timeout: 20_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  })

// An interactive zsh triggers completion from its line editor. The words that completion adds are written to a file: with `-O`, compadd puts
// the matching words into an array, and with `-D` their descriptions. Calls that already have one of these flags are queries of zsh's own
// functions and pass unchanged.
const zshSettings = `autoload -Uz compinit; compinit -u -D
source script.zsh
compadd() {
  local argument texts
  for argument in "$@"; do
    case "$argument" in
      -|--) break ;;
      -[OAD]) builtin compadd "$@"; return ;;
    esac
  done
  local -a hits descriptions
  (( $@[(I)-d] )) && texts="$@[$(( $@[(i)-d] + 1 ))]" && descriptions=("\${(@P)texts}")
  builtin compadd -O hits -D descriptions "$@"
  local i
  for (( i = 1; i <= $#hits; i++ )); do print -r -- "$hits[i]: \${descriptions[i]#* -- }" >> offered.txt; done
  builtin compadd "$@"
}
zle-line-init() {
  local line
  for line in "\${(@f)$(<lines)}"; do
    print -r -- "<<NEXT>>" >> offered.txt
    BUFFER="$line" CURSOR="$#line"
    zle list-choices
  done
  print -n "<<""END>>"
}
zle -N zle-line-init
`
const zshDriver = `zmodload zsh/zpty; zpty z zsh -i; zpty -r z shown '*<<END>>*'`

// All lines in one zsh, because starting it takes longer than completing.
const lines = [
  ...['kubewright ', 'kubewright cr', 'kubewright --', 'kubewright create ', 'kubewright create api --'],
  ...['kubewright create api --kind up --', 'kubewright u', 'kubewright up --da', 'kubewright up --license '],
  ...['kubewright shell ', 'kubewright up --context ', 'kubewright create api -k ', 'kubewright crd diff a'],
  ...['kubewright up --data a', 'kubewright create api a', 'kubewright up --license='],
]
let answers: string[] | undefined

/** The completions of a line, sorted, each with its description if the shell shows descriptions. */
const offered: Record<Shell, (line: string) => string[]> = {
  bash(line) {
    // Split as readline does.
    const words = line.replaceAll('=', ' = ').split(' ')
    const script = `source script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kubewright; printf '%s\\n' "\${COMPREPLY[@]}"`
    return listed(run('bash', '-c', script, 'bash', ...(line.endsWith('=') ? words.slice(0, -1) : words)))
  },
  zsh(line) {
    if (answers === undefined) {
      writeFileSync(join(folder, '.zshrc'), zshSettings)
      writeFileSync(join(folder, 'lines'), lines.join('\n'))
      run('zsh', '-fc', zshDriver)
      answers = readFileSync(join(folder, 'offered.txt'), 'utf8').split('<<NEXT>>').slice(1)
    }
    // zsh adds folders twice: alone and with the files.
    return [...new Set(listed(answers[lines.indexOf(line)] ?? ''))]
  },
  fish: (line) => listed(run('fish', '-c', `source script.fish; complete -C '${line}'`)),
}

const listed = (text: string): string[] =>
  text
    .split('\n')
    .map((row) => row.replace('\t', ': ').replace(/\/$/, '').replaceAll('\\ ', ' ').trim())
    .filter((row) => row !== '')
    .sort()

describe.each(shells)('completionScript() in %s', (name) => {
  const missing = ((): string | undefined => {
    try {
      execFileSync(name, ['-c', 'exit 0'], { stdio: 'ignore' })
      return undefined
    } catch {
      return `${name} is not installed`
    }
  })()
  const offers = (line: string): string[] => offered[name](line)
  const names = (line: string): string[] => offers(line).map((one) => one.split(':')[0]!.replace(/\/$/, ''))
  const testIn = (title: string, check: () => void | Promise<void>): void =>
    test(title, { timeout: 120_000 }, async ({ skip }) => {
      if (missing !== undefined) {
        console.log(`Skipping completion in ${name}: ${missing}`)
        skip(missing)
      }
      await check()
    })

  testIn('offers commands, commands of groups and flags, with descriptions if the shell shows them', () => {
    expect(names('kubewright ')).toEqual(['crd', 'create', 'shell', 'up'].sort())
    expect(names('kubewright cr')).toEqual(['crd', 'create'].sort())
    expect(names('kubewright --')).toEqual(['--help', '--version'])
    expect(names('kubewright create ')).toEqual(['api'])
    expect(names('kubewright create api --')).toEqual(['--help', '--kind'])
    // The name of a command that is the value of a flag must not change the context.
    expect(names('kubewright create api --kind up --')).toEqual(['--help', '--kind'])
    if (name !== 'bash') expect(offers('kubewright u')).toEqual([`up: The summary: it's it`])
    if (name !== 'bash')
      expect(offers('kubewright up --da')).toEqual(['--data: Keep objects [here], or there (default x)'])
  })

  testIn('offers values: choices, files, folders, and lists that the command prints', () => {
    expect(names('kubewright up --license ')).toEqual(['apache2', 'mit', 'none'])
    expect(names('kubewright shell ')).toEqual(['bash', 'zsh'])
    expect(names('kubewright up --context ')).toEqual(['contexts-one', 'contexts-two'])
    expect(names('kubewright create api -k ')).toEqual(['kinds-one', 'kinds-two'])
    expect(names('kubewright crd diff a')).toEqual(['a file.yaml', 'a folder', 'afternoon'])
    expect(names('kubewright up --data a')).toEqual(['a folder', 'afternoon'])
    expect(names('kubewright create api a')).toEqual([])
    // After an equals sign, fish repeats the flag in each completion.
    const after = names('kubewright up --license=').map((value) => value.replace('--license=', ''))
    expect(after).toEqual(['apache2', 'mit', 'none'])
  })

  testIn('is a valid script for all commands', async () => {
    writeFileSync(join(folder, `real.${name}`), completionScript(name, await wordsOf(allCommands)))
    expect(run(name, '-n', `real.${name}`)).toBe('')
  })
})
