// The character classes of YAML 1.1. The text ends with NUL, which the reader refuses everywhere else, so that each
// test below is also the test for the end of the text.

/** A line break; unlike YAML 1.2, version 1.1 includes NEL, LS and PS. */
export function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d || code === 0x85 || code === 0x2028 || code === 0x2029
}

/** A space or a tab. */
export function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

/** A line break or the end of the text. */
export function isBreakOrEnd(code: number): boolean {
  return code === 0 || isBreak(code)
}

/** A space, a tab, a line break or the end of the text. Control characters were refused before. */
export function isBlankOrEnd(code: number): boolean {
  return code <= 0x20 || code === 0x85 || code === 0x2028 || code === 0x2029
}

/** A character of an anchor, a tag handle or the name of a directive. */
export function isWord(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    code === 0x2d
  )
}
