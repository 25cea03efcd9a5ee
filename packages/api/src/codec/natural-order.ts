const letter = /^\p{L}$/u
const digit = /^\p{Nd}$/u

/**
 * Compares keys as go-yaml v2 does: numbers inside names by value (`a2` before `a10`), letters after other characters.
 * The two rules contradict each other for keys such as `2`, `10` and `1a`: the comparison is then not transitive, and
 * neither is go-yaml's.
 */
export function compareNaturally(a: string, b: string): number {
  return ascii.test(a) && ascii.test(b) ? compareAscii(a, b) : compareCharacters(a, b)
}

const ascii = /^[\0-\x7f]*$/
/** Numbers of as many digits, and one more, are exact as JavaScript numbers. */
const exactDigits = 14

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
const isAsciiDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** The same order for texts of ASCII characters, without an array of characters: objects may have many thousands of keys. */
function compareAscii(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === a.length || at === b.length) return a.length - b.length
  const x = a.charCodeAt(at)
  const y = b.charCodeAt(at)
  if (isAsciiLetter(x) || isAsciiLetter(y)) {
    return isAsciiLetter(x) && isAsciiLetter(y) ? x - y : isAsciiLetter(y) ? -1 : 1
  }
  if (!isAsciiDigit(x) && !isAsciiDigit(y)) return x - y
  const xEnd = endOfDigits(a, at)
  const yEnd = endOfDigits(b, at)
  if (xEnd - at > exactDigits || yEnd - at > exactDigits) return compareCharacters(a, b)
  const inNumber = (x === 0x30 || y === 0x30) && startsNumberBefore(a, at)
  const difference = numberIn(a, at, xEnd, inNumber) - numberIn(b, at, yEnd, inNumber)
  return difference || xEnd - yEnd || x - y
}

function endOfDigits(text: string, at: number): number {
  let end = at
  while (isAsciiDigit(text.charCodeAt(end))) end++
  return end
}

function numberIn(text: string, at: number, end: number, inNumber: boolean): number {
  return (inNumber ? 10 ** (end - at) : 0) + Number(text.slice(at, end))
}

function compareCharacters(a: string, b: string): number {
  const x = [...a]
  const y = [...b]
  for (let i = 0; i < x.length && i < y.length; i++) {
    if (x[i] === y[i]) continue
    const xLetter = letter.test(x[i]!)
    const yLetter = letter.test(y[i]!)
    if (xLetter && yLetter) return codeOf(x[i]!) - codeOf(y[i]!)
    if (xLetter || yLetter) return yLetter ? -1 : 1
    return compareNumbers(x, y, i)
  }
  return x.length - y.length
}

function compareNumbers(x: readonly string[], y: readonly string[], at: number): number {
  // Zeros inside a number count; leading zeros do not.
  const inNumber = (x[at] === '0' || y[at] === '0') && startsNumberBefore(x, at)
  const [xValue, xEnd] = numberAt(x, at, inNumber)
  const [yValue, yEnd] = numberAt(y, at, inNumber)
  if (xValue !== yValue) return xValue < yValue ? -1 : 1
  if (xEnd !== yEnd) return xEnd - yEnd
  return codeOf(x[at]!) - codeOf(y[at]!)
}

function startsNumberBefore(chars: ArrayLike<string>, at: number): boolean {
  for (let i = at - 1; i >= 0 && digit.test(chars[i]!); i--) if (chars[i] !== '0') return true
  return false
}

function numberAt(chars: readonly string[], at: number, inNumber: boolean): [value: bigint, end: number] {
  let value = inNumber ? 1n : 0n
  let end = at
  // 64-bit arithmetic with overflow, as in Go.
  for (; end < chars.length && digit.test(chars[end]!); end++) {
    value = BigInt.asIntN(64, value * 10n + BigInt(codeOf(chars[end]!) - 0x30))
  }
  return [value, end]
}

function codeOf(char: string): number {
  return char.codePointAt(0)!
}
