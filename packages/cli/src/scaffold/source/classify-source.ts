/** The class of characters outside literals and comments. */
export const code = 0
/** The class of characters in strings, templates and regular expressions. */
export const literal = 1
/** The class of characters in comments. */
export const comment = 2

/**
 * Classifies each character of TypeScript source as code, literal or comment, because brackets and commas matter in code only. The part
 * between `${` and `}` of a template is code. Undefined if a literal or comment has no end.
 */
export function classifySource(text: string): Uint8Array | undefined {
  const classes = new Uint8Array(text.length)
  // For each open template, the depth of braces within its current `${`.
  const templates: number[] = []
  let at = 0
  const take = (end: number, what: number): void => {
    classes.fill(what, at, end)
    at = end
  }
  while (at < text.length) {
    const char = text[at]!
    const pair = text.slice(at, at + 2)
    let end: number | undefined
    if (pair === '//' || (at === 0 && pair === '#!')) {
      const newline = text.indexOf('\n', at)
      take(newline < 0 ? text.length : newline, comment)
      continue
    }
    if (pair === '/*') {
      end = text.indexOf('*/', at + 2)
      if (end < 0) return undefined
      take(end + 2, comment)
      continue
    }
    if (char === "'" || char === '"') end = endOfString(text, at, char)
    else if (char === '/' && startsRegExp(text, classes, at)) end = endOfRegExp(text, at)
    else if (char === '`' || (char === '}' && templates.at(-1) === 0)) {
      if (char === '}') templates.pop()
      end = endOfTemplatePart(text, at + 1)
      if (end !== undefined && text[end - 1] === '{') templates.push(0)
    } else {
      if (templates.length > 0 && char === '{') templates[templates.length - 1]!++
      if (templates.length > 0 && char === '}') templates[templates.length - 1]!--
      at++
      continue
    }
    if (end === undefined) return undefined
    take(end, literal)
  }
  return templates.length === 0 ? classes : undefined
}

function endOfString(text: string, start: number, quote: string): number | undefined {
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === quote) return at + 1
  }
  return undefined
}

/** The position after the backtick that ends the template, or after the `${` that interrupts it. */
function endOfTemplatePart(text: string, start: number): number | undefined {
  for (let at = start; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '`') return at + 1
    else if (text[at] === '$' && text[at + 1] === '{') return at + 2
  }
  return undefined
}

function endOfRegExp(text: string, start: number): number | undefined {
  let inClass = false
  for (let at = start + 1; at < text.length && text[at] !== '\n'; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '[') inClass = true
    else if (text[at] === ']') inClass = false
    else if (text[at] === '/' && !inClass) return at + 1
  }
  return undefined
}

/** Whether a slash starts a regular expression. After a value it is a division. */
function startsRegExp(text: string, classes: Uint8Array, at: number): boolean {
  let before = at - 1
  while (before >= 0 && (classes[before] === comment || /\s/.test(text[before]!))) before--
  if (before < 0) return true
  if (classes[before] === literal || /[)\]}]/.test(text[before]!)) return false
  const word = /[\w$]+$/.exec(text.slice(0, before + 1))?.[0]
  return word === undefined || /^(?:return|typeof|case|in|of|void|delete|do|else|yield|await)$/.test(word)
}
