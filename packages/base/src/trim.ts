/**
 * Removes a character from the end of a text. Takes time proportional to the length, unlike a regular expression such as `/\/+$/`,
 * whose time is quadratic when the text has a long run of the character elsewhere.
 */
export function trimEnd(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** Removes a character from both ends of a text, as {@link trimEnd}. */
export function trim(text: string, character: string): string {
  let start = 0
  while (start < text.length && text[start] === character) start++
  return trimEnd(text.slice(start), character)
}
