import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commands } from '../all-commands.ts'
import type { Command } from '../command/command.ts'
import { completionScript, type Shell, shells } from './completion-script.ts'
import { readHelp } from './read-help.ts'

const command = (name: string, help: string, helpFor?: (args: readonly string[]) => string): Command => ({
  name,
  summary: `The ${name}: it's it`,
  help,
  ...(helpFor === undefined ? {} : { helpFor }),
  run: async () => 0,
})
const up = command(
  'up',
  `Usage: kubewright up [OPTIONS]

Options
  --port N             Port to listen on
  --data DIR           Keep objects [here],
                       or there
  --output json        As JSON
  --memory[=false]     Keep nothing
  --license WHICH      apache2, mit or none (default none)
  --controllers WHICH  all, none, or a list of names
  --context NAME       Of the kubeconfig
  --names NAMES
                       On a line of its own
  -v, --verbose        Log
  --crd FILE`,
)
const createHelp = `Usage: kubewright create WHAT

  api      A kind
  other    Not a word`
const apiHelp = `Usage: kubewright create api [OPTIONS]

  -k, --kind KIND  Its kind`
const create = command('create', createHelp, ([what]) => (what === 'api' ? apiHelp : createHelp))
const crd = command('crd', 'Usage: kubewright crd diff OLD NEW\n\n  --all  All')
const shell = command('shell', 'Usage: kubewright shell SHELL\n\n  bash   This\n  zsh    That')
const all = [up, create, crd, shell].flatMap((one) => readHelp(one))

describe('readHelp()', () => {
  it('reads flags, with their texts and what their values can be', () => {
    const words = (...list: string[]): object => ({ from: 'words', words: list })
    expect(readHelp(up)[0]?.flags).toEqual([
      { name: 'port', value: 'N', text: 'Port to listen on' },
      { name: 'data', value: 'DIR', text: 'Keep objects [here], or there', source: { from: 'folders' } },
      { name: 'output', value: 'json', text: 'As JSON', source: words('json') },
      { name: 'memory', value: 'false]', text: 'Keep nothing', isOptional: true, source: words('true', 'false') },
      {
        name: 'license',
        value: 'WHICH',
        text: 'apache2, mit or none (default none)',
        source: words('apache2', 'mit', 'none'),
      },
      { name: 'controllers', value: 'WHICH', text: 'all, none, or a list of names', source: words('all', 'none') },
      { name: 'context', value: 'NAME', text: 'Of the kubeconfig', source: { from: 'list', list: 'contexts' } },
      { name: 'names', value: 'NAMES', text: 'On a line of its own' },
      { name: 'verbose', short: 'v', text: 'Log' },
      { name: 'crd', value: 'FILE', text: '', source: { from: 'files' } },
      { name: 'help', short: 'h', text: 'Tell how to use the command' },
    ])
  })

  it('reads the flags of a program that others are handed on to', () => {
    const program =
      'Usage: x\n\nFlags:\n  --http2\n        Say so (default false)\n  --level, --zap-level LEVEL\n        error or info'
    const [run] = readHelp(
      command('run', 'Usage: kubewright run [ENTRY] [FLAGS]'),
      `${program}\n  --help\n        This`,
    )
    expect(run?.flags).toEqual([
      { name: 'http2', text: 'Say so (default false)' },
      { name: 'level', value: 'LEVEL', text: 'error or info', source: { from: 'words', words: ['error', 'info'] } },
      { name: 'help', short: 'h', text: 'Tell how to use the command' },
    ])
  })

  it('reads second words and operands', () => {
    expect(all.map(({ words, operands }) => [words.join(' '), operands?.from])).toEqual([
      ['up', undefined],
      ['create', undefined],
      ['create api', undefined],
      ['crd', undefined],
      ['crd diff', 'files'],
      ['shell', 'words'],
    ])
  })

  it('misses no flag of any command', { timeout: 120_000 }, async () => {
    for (const { load } of commands.values()) {
      const one = await load()
      for (const { words, flags } of readHelp(one)) {
        const help = (words[1] === undefined ? undefined : one.helpFor?.([words[1]])) ?? one.help
        if (words.length === 1 && one.helpFor !== undefined) continue
        const shown = [...help.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, name]) => name)
        const known = flags.map(({ name }) => name)
        if (known.length > 1) expect(known, words.join(' ')).toEqual([...shown, 'help'])
      }
    }
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

// An interactive zsh asks itself once its line editor is there. What completion adds is written to a file: `-O` has compadd put the words that
// match into an array, `-D` the texts that belong to them. Calls that have one of these are questions of zsh's own functions.
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

// All of them, since one zsh takes as long to start as to answer.
const lines = [
  ...['kubewright ', 'kubewright cr', 'kubewright --', 'kubewright create ', 'kubewright create api --'],
  ...['kubewright create api --kind up --', 'kubewright u', 'kubewright up --da', 'kubewright up --license '],
  ...['kubewright shell ', 'kubewright up --context ', 'kubewright create api -k ', 'kubewright crd diff a'],
  ...['kubewright up --data a', 'kubewright create api a', 'kubewright up --license='],
]
let answers: string[] | undefined

/** What a shell offers for a line, each with its description if the shell shows some; sorted. */
const offered: Record<Shell, (line: string) => string[]> = {
  bash(line) {
    // As readline splits it.
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
    // Folders are added by themselves and with the files.
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
  const test = (title: string, check: () => void | Promise<void>): void =>
    it(title, { timeout: 120_000 }, async ({ skip }) => {
      if (missing !== undefined) {
        console.log(`Completion in ${name} is not tried: ${missing}`)
        skip(missing)
      }
      await check()
    })

  test('offers commands, second words and flags, with descriptions where the shell shows them', () => {
    expect(names('kubewright ')).toEqual(['crd', 'create', 'shell', 'up'].sort())
    expect(names('kubewright cr')).toEqual(['crd', 'create'].sort())
    expect(names('kubewright --')).toEqual(['--help', '--version'])
    expect(names('kubewright create ')).toEqual(['api'])
    expect(names('kubewright create api --')).toEqual(['--help', '--kind'])
    // The name of another command is no command here.
    expect(names('kubewright create api --kind up --')).toEqual(['--help', '--kind'])
    if (name !== 'bash') expect(offers('kubewright u')).toEqual([`up: The up: it's it`])
    if (name !== 'bash') expect(offers('kubewright up --da')).toEqual(['--data: Keep objects [here], or there'])
  })

  test('offers values: words, files, folders, and what only the command knows', () => {
    expect(names('kubewright up --license ')).toEqual(['apache2', 'mit', 'none'])
    expect(names('kubewright shell ')).toEqual(['bash', 'zsh'])
    expect(names('kubewright up --context ')).toEqual(['contexts-one', 'contexts-two'])
    expect(names('kubewright create api -k ')).toEqual(['kinds-one', 'kinds-two'])
    expect(names('kubewright crd diff a')).toEqual(['a file.yaml', 'a folder', 'afternoon'])
    expect(names('kubewright up --data a')).toEqual(['a folder', 'afternoon'])
    expect(names('kubewright create api a')).toEqual([])
    // After an equals sign, fish repeats the flag.
    const after = names('kubewright up --license=').map((value) => value.replace('--license=', ''))
    expect(after).toEqual(['apache2', 'mit', 'none'])
  })

  test('is a script that the shell accepts for the commands that there are', async () => {
    const loaded = await Promise.all([...commands.values()].map(({ load }) => load()))
    writeFileSync(
      join(folder, `real.${name}`),
      completionScript(
        name,
        loaded.flatMap((one) => readHelp(one)),
      ),
    )
    expect(run(name, '-n', `real.${name}`)).toBe('')
  })
})
