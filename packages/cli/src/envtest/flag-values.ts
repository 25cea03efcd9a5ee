/**
 * The values of flags as Go's programs accept them: `--name=value`, `--name value`, with one dash or two. A flag that is followed by another
 * one has the value `true`. All flags are accepted.
 */
export function flagValues(args: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>()
  for (const [at, arg] of args.entries()) {
    const found = /^--?([^-=][^=]*)(?:=(.*))?$/s.exec(arg)
    if (!found) continue
    const [, name = '', value] = found
    const next = args[at + 1]
    const given = value ?? (next === undefined || next.startsWith('-') ? 'true' : next)
    values.set(name, [...(values.get(name) ?? []), given])
  }
  return values
}
