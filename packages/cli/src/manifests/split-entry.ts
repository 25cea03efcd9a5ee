/** Takes the module that is named first off the arguments of a command. */
export function splitEntry(args: readonly string[]): { given: string | undefined; rest: readonly string[] } {
  const [first] = args
  return first === undefined || first.startsWith('-')
    ? { given: undefined, rest: args }
    : { given: first, rest: args.slice(1) }
}
