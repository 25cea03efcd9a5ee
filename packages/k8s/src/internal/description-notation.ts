// The notation of descriptions in the generated module: a line per definition, `Name: sentence`, followed by a line per
// field, which starts with a space.

/** Sentences by field. The empty name describes the definition itself. */
export type FieldTexts = Readonly<Record<string, string>>

/** The descriptions of a table, by local name, or the shared ones by {@link sharedClass}. */
export type DescriptionTexts = Readonly<Record<string, FieldTexts>>

/** Writes descriptions in the notation. */
export function writeDescriptions(texts: DescriptionTexts): string {
  return Object.entries(texts)
    .flatMap(([name, fields]) => [
      `${name}: ${fields[''] ?? ''}`,
      ...Object.entries(fields).flatMap(([field, text]) => (field === '' ? [] : [` ${field}: ${text}`])),
    ])
    .join('\n')
}

/** Reads descriptions from the notation. */
export function parseDescriptions(notation: string): DescriptionTexts {
  const texts: Record<string, Record<string, string>> = {}
  let fields: Record<string, string> = {}
  for (const line of notation.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon < 0) continue
    const text = line.slice(colon + 2)
    if (line.startsWith(' ')) fields[line.slice(1, colon)] = text
    else texts[line.slice(0, colon)] = fields = text === '' ? {} : { '': text }
  }
  return texts
}

/** Returns the name of the shared descriptions that apply to a definition, or undefined if none do. */
export function sharedClass(local: string, fields: ReadonlySet<string>): string | undefined {
  if (local.endsWith('List') && fields.has('items') && fields.has('metadata')) return 'lists'
  if (local.endsWith('Condition') && fields.has('type') && fields.has('status')) return 'conditions'
  return fields.has('apiVersion') && fields.has('kind') && fields.has('metadata') ? 'kinds' : undefined
}

/** Returns the descriptions of a definition: its own, and the shared ones where it has none. */
export function textsOf(
  own: DescriptionTexts | undefined,
  shared: DescriptionTexts,
  local: string,
  fields: ReadonlySet<string>,
): FieldTexts {
  const group = sharedClass(local, fields)
  const common = Object.entries((group === undefined ? undefined : shared[group]) ?? {})
    .filter(([field]) => field === '' || fields.has(field))
    .map(([field, text]) => [field, text.replace('{kind}', local.replace(/List$/, ''))])
  return { ...Object.fromEntries(common), ...own?.[local] }
}
