import type { HelpFlag, HelpWords } from './read-help.ts'

/** The shells that there are scripts for. */
export const shells = ['bash', 'zsh', 'fish'] as const

/** A shell that there is a script for. */
export type Shell = (typeof shells)[number]

/** A script that has a shell complete `kubewright`: commands, their second words, flags, and files after flags that take some. */
export function completionScript(shell: Shell, all: readonly HelpWords[]): string {
  switch (shell) {
    case 'bash':
      return bashScript(all)
    case 'zsh':
      return zshScript(all)
    case 'fish':
      return fishScript(all)
  }
}

const commandsOf = (all: readonly HelpWords[]): HelpWords[] => all.filter(({ words }) => words.length === 1)
const secondOf = (all: readonly HelpWords[], command: string): HelpWords[] =>
  all.filter(({ words }) => words.length === 2 && words[0] === command)
const takesFiles = ({ value }: HelpFlag): boolean => /^(FILE|DIR|ENTRY)/.test(value ?? '')
/** The values of a flag that takes one of a few words, such as json. */
const choices = ({ value = '' }: HelpFlag): string[] =>
  /^[a-z]/.test(value) ? value.split(/[|,[\]]+/).filter((word) => word !== '') : []

function bashScript(all: readonly HelpWords[]): string {
  const cases = [...all]
    // Two words first: the pattern of one would match them too.
    .sort((a, b) => b.words.length - a.words.length)
    .map(({ words, flags }) => {
      const pattern = words.length === 1 ? `${words[0]}\\ *` : `${words.join('\\ ')}`
      return `    ${pattern}) flags='${flags.map(({ name }) => `--${name}`).join(' ')}' ;;`
    })
  const seconds = commandsOf(all).flatMap(({ words: [name = ''] }) => {
    const words = secondOf(all, name).map((one) => one.words[1])
    return words.length === 0 ? [] : [`    ${name}) words='${words.join(' ')}' ;;`]
  })
  const files = [...new Set(all.flatMap(({ flags }) => flags.filter(takesFiles).map(({ name }) => `--${name}`)))]
  const values = new Map<string, Set<string>>()
  for (const flag of all.flatMap(({ flags }) => flags)) {
    for (const word of choices(flag)) values.set(flag.name, (values.get(flag.name) ?? new Set()).add(word))
  }
  const valueCases = [...values].map(
    ([name, words]) => `    --${name}) COMPREPLY=($(compgen -W '${[...words].join(' ')}' -- "$current")); return ;;`,
  )
  return `# bash completion of kubewright; to use it: source <(kubewright completion bash)
_kubewright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" flags='--help' words=''
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W '${commandsOf(all)
      .map(({ words }) => words[0])
      .join(' ')}' -- "$current"))
    return
  fi
  case "$previous" in
    ${files.length === 0 ? '--' : files.join('|')}) COMPREPLY=($(compgen -f -- "$current")); return ;;
${valueCases.join('\n')}
  esac
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in
${cases.join('\n')}
  esac
  case "\${COMP_WORDS[1]}" in
${seconds.join('\n')}
  esac
  if [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ $COMP_CWORD -eq 2 && -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _kubewright kubewright
`
}

const single = (text: string): string => text.replaceAll("'", `'\\''`)

function zshScript(all: readonly HelpWords[]): string {
  // A colon ends a word in lists, brackets end the text of a flag.
  const item = (word: string, text: string): string => `'${word}:${single(text.replaceAll(':', '\\:'))}'`
  const spec = (flag: HelpFlag): string => {
    const text = single(flag.text.replaceAll(/([[\]:])/g, '\\$1'))
    const few = choices(flag)
    const action = takesFiles(flag) ? '_files' : few.length > 0 ? `(${few.join(' ')})` : ' '
    const tail =
      flag.value === undefined ? '' : `:${few.length > 0 ? flag.name : flag.value.replaceAll(/\W/g, '')}:${action}`
    return `'*--${flag.name}[${text}]${tail}'`
  }
  const describe = (title: string, items: readonly HelpWords[], index: number): string =>
    `local -a found=(${items.map(({ words, summary }) => item(words[index] ?? '', summary)).join(' ')}); _describe ${title} found`
  const cases = commandsOf(all).flatMap(({ words: [name = ''], flags }) => {
    const seconds = secondOf(all, name)
    const own = `    ${name}) _arguments ${flags.map(spec).join(' ')} '*:file:_files' ;;`
    if (seconds.length === 0) return [own]
    return [
      ...seconds.map(
        (one) => `    ${name}\\ ${one.words[1]}) _arguments ${one.flags.map(spec).join(' ')} '*:file:_files' ;;`,
      ),
      `    ${name}\\ *|${name}) ${describe('what', seconds, 1)} ;;`,
    ]
  })
  return `#compdef kubewright
# zsh completion of kubewright; to use it: source <(kubewright completion zsh)
_kubewright() {
  if (( CURRENT == 2 )); then
    ${describe('command', commandsOf(all), 0)}
    return
  fi
  local typed="$words[2]"
  case "$typed" in
    ${[...new Set(all.filter(({ words }) => words.length === 2).map(({ words }) => words[0]))].join('|') || '-'}) (( CURRENT > 3 )) && typed="$words[2] $words[3]" ;;
  esac
  case "$typed" in
${cases.join('\n')}
  esac
}
compdef _kubewright kubewright
`
}

function fishScript(all: readonly HelpWords[]): string {
  const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = [
    '# fish completion of kubewright; to use it: kubewright completion fish | source',
    ...commandsOf(all).map(
      ({ words, summary }) => `complete -c kubewright -f -n __fish_use_subcommand -a ${words[0]} -d ${quote(summary)}`,
    ),
  ]
  for (const { words, summary, flags } of all) {
    const [command = '', second] = words
    const inside = `__fish_seen_subcommand_from ${command}`
    const others = secondOf(all, command).map((one) => one.words[1])
    if (second !== undefined) {
      const fresh = `${inside}; and not __fish_seen_subcommand_from ${others.join(' ')}`
      lines.push(`complete -c kubewright -f -n '${fresh}' -a ${second} -d ${quote(summary)}`)
    }
    const when = second === undefined ? inside : `${inside}; and __fish_seen_subcommand_from ${second}`
    for (const flag of flags) {
      const few = choices(flag)
      const value =
        flag.value === undefined
          ? ''
          : takesFiles(flag)
            ? ' -r -F'
            : few.length > 0
              ? ` -x -a ${quote(few.join(' '))}`
              : ' -x'
      const short = flag.short === undefined ? '' : ` -s ${flag.short}`
      lines.push(`complete -c kubewright -n '${when}' -l ${flag.name}${short}${value} -d ${quote(flag.text)}`)
    }
  }
  return `${lines.join('\n')}\n`
}
