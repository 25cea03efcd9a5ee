import { type CompletionWords, firstWords, globalFlags, secondWords, type ValueSource } from './completion-words.ts'

/** The completion script for bash. It works with version 3.2, which macOS ships. */
export function bashScript(all: readonly CompletionWords[]): string {
  const dashed = (flags: CompletionWords['flags']): string => flags.map(({ name }) => `--${name}`).join(' ')
  const firsts = firstWords(all).map(({ words }) => words[0] ?? '')
  const pairs = firsts.filter((name) => secondWords(all, name).length > 0)
  // Flags with the same source of values share a case.
  const values = new Map<string, string[]>()
  for (const { words, flags } of all) {
    for (const { name, short, source, value, isOptional } of flags) {
      if (value === undefined) continue
      const action = actionOf(source)
      // An optional value must follow an equals sign.
      const typed = [`--${name}${isOptional ? '=' : ''}`, ...(short === undefined ? [] : [`-${short}`])]
      const patterns = typed.map((flag) => `'${[...words, flag].join(' ')}'`)
      values.set(action, [...(values.get(action) ?? []), ...patterns])
    }
  }
  const valueCases = [...values].map(([action, patterns]) => `    ${patterns.join('|')}) ${action}; return ;;`)
  const cases = all.map(({ words, flags, operands }) => {
    const [name = ''] = words
    const seconds = words.length === 1 ? secondWords(all, name).map((one) => one.words[1]) : []
    const action = seconds.length > 0 ? actionOf({ from: 'words', words: seconds as string[] }) : actionOf(operands)
    return `    '${words.join(' ')}') flags='${dashed(flags)}'; [[ $current == -* ]] || { ${action}; return; } ;;`
  })
  return `# bash completion of kubewright; to use it: source <(kubewright completion bash)
_kubewright_words() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
}
_kubewright_paths() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen "$1" -- "$current"))
  compopt -o filenames 2>/dev/null
}
_kubewright_list() {
  _kubewright_words "$("\${COMP_WORDS[0]}" completion --list "$1" 2>/dev/null)"
}
_kubewright() {
  local current="\${COMP_WORDS[COMP_CWORD]}" flag="\${COMP_WORDS[COMP_CWORD-1]}" typed="\${COMP_WORDS[1]}" flags='--help'
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    if [[ $current == -* ]]; then _kubewright_words '${dashed(globalFlags)}'; else _kubewright_words '${firsts.join(' ')}'; fi
    return
  fi
  case "$typed" in
    ${pairs.length === 0 ? "''" : pairs.join('|')}) [[ $COMP_CWORD -gt 2 ]] && typed="$typed \${COMP_WORDS[2]}" ;;
  esac
  # readline splits at an equals sign: it is a word, and so is the value after it.
  if [[ $current == '=' ]]; then
    current='' flag="$flag="
  elif [[ $flag == '=' ]]; then
    flag="\${COMP_WORDS[COMP_CWORD-2]}="
  fi
  case "$typed $flag" in
${valueCases.join('\n')}
  esac
  case "$typed \${flag%=}" in
${valueCases.filter((line) => !line.includes("='")).join('\n')}
  esac
  case "$typed" in
${cases.join('\n')}
  esac
  _kubewright_words "$flags"
}
complete -F _kubewright kubewright
`
}

function actionOf(source: ValueSource | undefined): string {
  switch (source?.from) {
    case undefined:
      return ':'
    case 'words':
      return `_kubewright_words '${source.words.join(' ')}'`
    case 'files':
      return '_kubewright_paths -f'
    case 'folders':
      return '_kubewright_paths -d'
    case 'list':
      return `_kubewright_list ${source.list}`
  }
}
