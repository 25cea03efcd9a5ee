/**
 * Reads a table of one entry per line by the first word of each line, which ends at a blank or an equals sign. `changes` are lines that
 * replace the entry of the same name or add one; `-name` removes an entry.
 */
export function lineTable(text: string, changes = ''): Map<string, string> {
  const lines = new Map<string, string>()
  for (const line of text.split('\n')) if (line !== '') lines.set(firstWord(line), line)
  for (const line of changes.split('\n')) {
    if (line.startsWith('-')) lines.delete(line.slice(1))
    else if (line !== '') lines.set(firstWord(line), line)
  }
  return lines
}

/** The lines by which a table differs from a base, in the notation of {@link lineTable}; empty if it does not. */
export function lineChanges(base: string, text: string): string {
  const before = lineTable(base)
  const after = lineTable(text)
  return [
    ...[...before.keys()].filter((name) => !after.has(name)).map((name) => `-${name}`),
    ...[...after].filter(([name, line]) => before.get(name) !== line).map(([, line]) => line),
  ].join('\n')
}

function firstWord(line: string): string {
  const end = line.search(/[ =]/)
  return end < 0 ? line : line.slice(0, end)
}
