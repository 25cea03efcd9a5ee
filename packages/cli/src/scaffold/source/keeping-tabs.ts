/** Applies a change that assumes spaces to a text that may be indented with tabs. A text that mixes both is changed as it is. */
export function keepingTabs(text: string, change: (text: string) => string | undefined): string | undefined {
  // A single space is not an indentation: it precedes the star of a block comment.
  if (!/^\t/m.test(text) || /^\t* {2}/m.test(text)) return change(text)
  const changed = change(text.replaceAll(/^\t+/gm, (tabs) => '  '.repeat(tabs.length)))
  return changed?.replaceAll(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2))
}
