/** Keywords of CEL, which cannot be identifiers. A property with such a name is written as `__name__`. */
const KEYWORDS = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__',
  '.': '__dot__',
  '-': '__dash__',
  '/': '__slash__',
}
const UNESCAPES: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' }

/** Returns the CEL identifier of a property, or `undefined` if expressions cannot refer to it. */
export function escapeIdentifier(name: string): string | undefined {
  if (KEYWORDS.has(name)) return `__${name}__`
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[-./]/g, (part) => ESCAPES[part]!)
}

/** Returns the property name of a CEL identifier, or `undefined` if it contains an unknown escape. */
export function unescapeIdentifier(escaped: string): string | undefined {
  let isValid = true
  const name = escaped.replace(/__[^_]+__/g, (part) => {
    const content = part.slice(2, -2)
    if (Object.hasOwn(UNESCAPES, content)) return UNESCAPES[content]!
    if (!KEYWORDS.has(content) || part !== escaped) isValid = false
    return content
  })
  return isValid ? name : undefined
}
