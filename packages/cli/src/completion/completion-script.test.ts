import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { Command } from '../command.ts'
import { completionScript } from './completion-script.ts'
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
  --data DIR           Keep objects [here]
  --output json        As JSON
  -v, --verbose        Log
  --crd FILE`,
)
const createHelp = `Usage: kubewright create WHAT

  api      A kind
  other    Not a word`
const create = command('create', createHelp, ([what]) => (what === 'api' ? '  --group NAME  Group' : createHelp))
const crd = command('crd', 'Usage: kubewright crd diff OLD NEW\n\n  --all  All')
const all = [up, create, crd].flatMap(readHelp)

describe('readHelp()', () => {
  it('reads flags', () => {
    expect(readHelp(up)[0]?.flags).toEqual([
      { name: 'port', value: 'N', text: 'Port to listen on' },
      { name: 'data', value: 'DIR', text: 'Keep objects [here]' },
      { name: 'output', value: 'json', text: 'As JSON' },
      { name: 'verbose', short: 'v', text: 'Log' },
      { name: 'crd', value: 'FILE', text: '' },
      { name: 'help', short: 'h', text: 'Tell how to use the command' },
    ])
  })

  it('reads second words', () => {
    expect(all.map(({ words }) => words.join(' '))).toEqual(['up', 'create', 'create api', 'crd', 'crd diff'])
  })
})

/** What bash offers after these words, the last of which is being typed. */
function offered(...words: string[]): string[] {
  const script = `${completionScript('bash', all)}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kubewright; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['-c', script, 'bash', 'kubewright', ...words], { encoding: 'utf8' })
  return out.split('\n').filter((line) => line !== '')
}

describe('completionScript()', () => {
  it('has bash complete commands, second words, flags, values and files', () => {
    expect(offered('')).toEqual(['up', 'create', 'crd'])
    expect(offered('cr')).toEqual(['create', 'crd'])
    expect(offered('create', '')).toEqual(['api'])
    expect(offered('create', 'api', '--')).toEqual(['--group', '--help'])
    expect(offered('crd', 'diff', '--a')).toEqual(['--all'])
    expect(offered('up', '--')).toEqual(['--port', '--data', '--output', '--verbose', '--crd', '--help'])
    expect(offered('up', '--output', '')).toEqual(['json'])
    expect(offered('up', '--data', 'package.j')).toEqual(['package.json'])
  })

  it('quotes texts for zsh and fish', () => {
    const zsh = completionScript('zsh', all)
    expect(zsh).toContain(`'up:The up\\: it'\\''s it'`)
    expect(zsh).toContain(`'*--data[Keep objects \\[here\\]]:DIR:_files'`)
    expect(zsh).toContain(`'*--output[As JSON]:output:(json)'`)
    const fish = completionScript('fish', all)
    expect(fish).toContain(`-a up -d 'The up: it\\'s it'`)
    expect(fish).toContain(
      `complete -c kubewright -n '__fish_seen_subcommand_from up' -l data -r -F -d 'Keep objects [here]'`,
    )
    expect(fish).toContain(`-l verbose -s v -d 'Log'`)
    expect(fish).toContain(`__fish_seen_subcommand_from create; and __fish_seen_subcommand_from api' -l group -x`)
  })
})
