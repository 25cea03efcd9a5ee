import { colorCodes } from './colors.ts'

// Combining marks, joiners and other characters without a width.
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]$/u
// Wide East Asian characters by Unicode's table of widths, and emoji.
const wide =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6B\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1B000}-\u{1B2FB}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation})$/u

/** The columns that a text takes on a terminal: two for wide East Asian characters and emoji, none for colours and invisible characters. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text.replaceAll(colorCodes, '')) width += widthOfLetter(letter)
  return width
}

/** Cuts a text without colours to so many columns. An ellipsis marks the cut. */
export function cutText(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text
  let shown = ''
  let width = 1
  for (const letter of text) {
    width += widthOfLetter(letter)
    if (width > columns) break
    shown += letter
  }
  return `${shown}…`
}

function widthOfLetter(letter: string): number {
  if (letter < '\u0300') return 1
  return invisible.test(letter) ? 0 : wide.test(letter) ? 2 : 1
}
