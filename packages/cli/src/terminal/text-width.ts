import { colorCodes } from './colors.ts'

// Marks that stand above other letters, joiners and other signs that are not seen.
const invisible = /^[\p{Mn}\p{Me}\p{Cf}]$/u
// East Asian letters and signs as Unicode's table of widths has them, and emoji.
const wide =
  /^(?:[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97C\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6B\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1B000}-\u{1B2FB}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation})$/u

/** How many columns of a terminal a text takes: two for East Asian letters and emoji, none for colours and for what is not seen. */
export function widthOf(text: string): number {
  let width = 0
  for (const letter of text.replaceAll(colorCodes, '')) width += widthOfLetter(letter)
  return width
}

/** The beginning of a text without colours that takes at most so many columns; the end is marked when something was left out. */
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
