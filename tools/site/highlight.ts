// Colours of code blocks: a small tokenizer per language. Unknown languages stay plain.

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes text for HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (char) => escapes[char]!)

type Rule = readonly [pattern: string, style: string]

const string = `'(?:[^'\\\\\\n]|\\\\.)*'|"(?:[^"\\\\\\n]|\\\\.)*"`
const number = '\\b\\d[\\d_.]*\\b'
const words = (text: string): string => `\\b(?:${text.split(' ').join('|')})\\b`

const typescript: Rule[] = [
  ['//[^\\n]*|/\\*[\\s\\S]*?\\*/', 'comment'],
  [`${string}|\`(?:[^\`\\\\]|\\\\.)*\``, 'string'],
  [
    words(
      'import export from type interface const let function async await return if else for of in new throw class extends implements readonly default declare using void try catch finally while switch case break continue typeof instanceof keyof as satisfies static yield',
    ),
    'keyword',
  ],
  [`${words('true false null undefined this')}|${number}`, 'literal'],
  ['\\b[A-Za-z_$][\\w$]*(?=\\()', 'call'],
  ['\\b[A-Z][\\w$]*\\b', 'type'],
]
const yaml: Rule[] = [
  ['#[^\\n]*', 'comment'],
  ['(?<=^|\\n)[ \\t]*(?:- )*[\\w./~-]+(?=:(?:\\s|$))', 'keyword'],
  [string, 'string'],
  [`${words('true false null')}|(?<=[:,\\[] ?)${number}(?=\\s|$|,|\\])`, 'literal'],
]
const shell: Rule[] = [
  ['(?<=^|\\s)#[^\\n]*', 'comment'],
  [`${string}`, 'string'],
  ['\\$\\{?\\w+\\}?', 'literal'],
  ['(?<=\\s)--?[\\w-]+', 'type'],
  ['(?<=(?:^|\\n|&& |\\| |; ))[\\w./-]+', 'call'],
]
const json: Rule[] = [
  ['"(?:[^"\\\\]|\\\\.)*"(?=\\s*:)', 'keyword'],
  [string, 'string'],
  [`${words('true false null')}|${number}`, 'literal'],
]
const go: Rule[] = [
  ['//[^\\n]*|/\\*[\\s\\S]*?\\*/', 'comment'],
  [`"(?:[^"\\\\\\n]|\\\\.)*"|\`[^\`]*\``, 'string'],
  [words('package import func type struct interface return if else for range var const map chan go defer'), 'keyword'],
  [`${words('true false nil')}|${number}`, 'literal'],
  ['\\b[A-Za-z_]\\w*(?=\\()', 'call'],
]
const python: Rule[] = [
  ['#[^\\n]*', 'comment'],
  [`"""[\\s\\S]*?"""|f?(?:${string})`, 'string'],
  [
    words('import from def async await return if else for in class raise try except with as not and or lambda'),
    'keyword',
  ],
  [`${words('True False None')}|${number}`, 'literal'],
  ['@[\\w.]+|\\b[A-Za-z_]\\w*(?=\\()', 'call'],
]

const languages: Record<string, readonly Rule[]> = {
  ts: typescript,
  typescript,
  js: typescript,
  yaml,
  sh: shell,
  json,
  go,
  python,
}

/** Code as HTML with a span for each token. */
export function highlight(code: string, language: string): string {
  const rules = languages[language]
  if (rules === undefined) return escapeHtml(code)
  const pattern = new RegExp(rules.map(([source]) => `(${source})`).join('|'), 'g')
  let html = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const rule = match.slice(1).findIndex((group) => group !== undefined)
    html += escapeHtml(code.slice(end, match.index))
    html += `<span class="t-${rules[rule]![1]}">${escapeHtml(match[0])}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}
