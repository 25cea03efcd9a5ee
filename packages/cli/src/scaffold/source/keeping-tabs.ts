/**
 * Makes a change, which knows spaces only, to a text that may be indented with tabs. Where a text mixes both, it is changed as it is.
 */
export function keepingTabs(text: string, change: (text: string) => string | undefined): string | undefined {
  // A single space is that of a comment's stars.
  if (!/^\t/m.test(text) || /^\t* {2}/m.test(text)) return change(text)
  const changed = change(text.replaceAll(/^\t+/gm, (tabs) => '  '.repeat(tabs.length)))
  return changed?.replaceAll(/^(?: {2})+/gm, (spaces) => '\t'.repeat(spaces.length / 2))
}
