// Commands and flags in the prose and in the examples of the documentation exist.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FlagTable } from '@kubewright/base'
import { operatorFlags } from '@kubewright/runtime'
import { expect, test } from 'vitest'
import { allCommands } from '../../packages/cli/src/all-commands.ts'
import type { Command } from '../../packages/cli/src/command/command.ts'

const root = join(import.meta.dirname, '..', '..')
const groups = new Set<string>()
const commands = new Map<string, Command>()
for (const one of allCommands) {
  if ('commands' in one) groups.add(one.name)
  for (const command of 'commands' in one ? one.commands : [one]) commands.set(command.name, command)
}

/** The texts of a page that are set as code, with their lines. */
function codeOf(page: string): { readonly line: number; readonly text: string }[] {
  let fence: string | undefined
  return page.split('\n').flatMap((text, index) => {
    const line = index + 1
    const [, mark, language = ''] = /^ *(```+)(\w*)/.exec(text) ?? []
    if (mark !== undefined) {
      fence = fence === undefined ? language : undefined
      return []
    }
    if (fence !== undefined) return fence === 'sh' ? [{ line, text }] : []
    return [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => ({ line, text: code }))
  })
}

const namesOf = (table: FlagTable): string[] =>
  Object.entries(table).flatMap(([name, { aliases = [] }]) => [name, `no-${name}`, ...aliases])

/** What is wrong with the call of the command in a line of code; undefined when there is none. */
function problemOf(code: string): string | undefined {
  const [, call] = /(?:^|npx |[;&(] ?)kubewright ([a-z][^|;&#)]*)/.exec(code) ?? []
  if (call === undefined) return undefined
  const [first = '', second = ''] = call.split(/\s+/)
  if (groups.has(first) && !/^[a-z-]+$/.test(second)) return undefined
  const name = groups.has(first) ? `${first} ${second}` : first
  const command = commands.get(name)
  if (command === undefined) return `kubewright ${name} is no command`
  const known = new Set(['help', ...namesOf(command.flags), ...(command.forwards ? namesOf(operatorFlags) : [])])
  const unknown = [...call.matchAll(/(?<=\s)--([a-z][a-z0-9-]*)/g)].find(([, flag = '']) => !known.has(flag))
  return unknown === undefined ? undefined : `kubewright ${name} has no flag ${unknown[0]}`
}

/** Flags that the prose attributes to a command, as in: `--debug` of `dev`. */
function attributed(page: string): string[] {
  return [...page.matchAll(/`--([a-z][a-z0-9-]*)[^`]*` of `(?:npx )?(?:kubewright )?([a-z]+(?: [a-z]+)?)`/g)].flatMap(
    ([text, flag = '', name = '']) => {
      const command = commands.get(name)
      const isKnown = command === undefined || namesOf(command.flags).includes(flag)
      return isKnown ? [] : [`${text}: there is no such flag`]
    },
  )
}

test('all commands and flags of kubewright in the documentation exist', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  )
  let checked = 0
  const problems = pages.flatMap((name) => {
    const page = readFileSync(join(root, 'docs', name), 'utf8')
    const found = codeOf(page).flatMap(({ line, text }) => {
      if (/kubewright [a-z]/.test(text)) checked++
      const problem = problemOf(text)
      return problem === undefined ? [] : [`docs/${name}:${line}: ${problem}`]
    })
    return [...found, ...attributed(page).map((problem) => `docs/${name}: ${problem}`)]
  })
  expect(problems).toEqual([])
  expect(checked).toBeGreaterThan(200)
})

test.each([
  ['npx kubewright package', 'kubewright package is no command'],
  ['npx kubewright create thing', 'kubewright create thing is no command'],
  ['npx kubewright dev --trace', 'kubewright dev has no flag --trace'],
  ['npx kubewright dev --once', undefined],
  ['kubewright create api --group a', undefined],
])('the check reports %j: %s', (code, problem) => {
  expect(problemOf(code)).toBe(problem)
})
