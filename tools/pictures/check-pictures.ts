import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allCommands } from '../../packages/cli/src/all-commands.ts'
import { scenes } from './recordings.ts'
import { commandsOf } from './terminal-svg.ts'

/** Reports pictures that are missing, show other commands than their scene, or show a command that no longer exists. */
export function checkPictures(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  return scenes.flatMap(({ name, commands }) => {
    const file = `docs/pictures/${name}.svg`
    const stale = `${file} is stale. Run: npm run pictures -- ${name}`
    if (!existsSync(join(root, file))) return [stale]
    const shown = commandsOf(readFileSync(join(root, file), 'utf8'))
    const isCurrent = shown.join('\n') === commands.join('\n')
    const problems = shown.flatMap((command) => commandProblem(command, scripts) ?? [])
    return [...(isCurrent ? [] : [stale]), ...problems.map((problem) => `${file}: ${problem}`)]
  })
}

/** Why a command line does not exist, or undefined. */
export function commandProblem(line: string, scripts: Readonly<Record<string, string>>): string | undefined {
  const [program, ...words] = line.split(' ')
  if (program === 'npm') return words[1] !== undefined && words[1] in scripts ? undefined : `${line}: no such script`
  if (program !== 'kubewright') return undefined
  const command = allCommands.find(({ name }) => name === words[0])
  if (command === undefined || !('flags' in command)) return `${line}: no such command`
  const flags = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2).replace(/=.*/, ''))
  const unknown = flags.find((flag) => !(flag in command.flags))
  return unknown === undefined ? undefined : `${line}: no such flag --${unknown}`
}
