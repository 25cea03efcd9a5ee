// The reserved words of CEL, which no identifier may be; as in apiserver/pkg/cel/escaping.go.
const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)
const escapes: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}

/** The identifier by which CEL rules reach a field, or `undefined` if they cannot because of the characters in its name. */
export function celFieldName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`
  if (!/^[A-Za-z_][A-Za-z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, (found) => escapes[found] ?? found)
}
