import { ApiSyntaxError } from '../api-syntax-error.ts'
import { parseJson } from './decode-json.ts'
import { parseYaml } from './decode-yaml.ts'
import { JsonSyntaxError } from './json-syntax-error.ts'
import { looksLikeJson } from './looks-like-json.ts'

/**
 * Splits a YAML stream at lines that start with `---`, as kubectl does before parsing. Only a comment may follow the
 * dashes on such a line. Blank documents are omitted.
 */
export function splitYamlDocuments(text: string): string[] {
  const documents: string[] = []
  let lines: string[] = []
  const flush = (): void => {
    if (lines.length > 0) documents.push(`${lines.join('\n')}\n`)
    lines = []
  }
  for (const line of text.replace(/\n$/, '').split(/\r?\n/)) {
    if (!line.startsWith('---')) {
      lines.push(line)
      continue
    }
    const rest = line.slice(3).trim()
    if (rest !== '' && !rest.startsWith('#')) throw new ApiSyntaxError(`invalid Yaml document separator: ${rest}`)
    flush()
  }
  flush()
  return documents.filter((document) => document.trim() !== '')
}

/**
 * Parses a manifest file as `kubectl apply -f` does: YAML documents, or concatenated JSON objects. Empty documents
 * (only comments, or `null`) are omitted.
 */
export function parseManifests(text: string): unknown[] {
  if (!looksLikeJson(text)) return parseYamlDocuments(text)
  try {
    return parseJsonStream(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    try {
      // A YAML flow mapping also starts with a brace.
      return parseYamlDocuments(text)
    } catch {
      throw new ApiSyntaxError(`json: offset ${error.offset}: ${error.message}`, { cause: error })
    }
  }
}

function parseYamlDocuments(text: string): unknown[] {
  return splitYamlDocuments(text)
    .map(fromYaml)
    .filter((value) => value !== null)
}

function fromYaml(document: string): unknown {
  try {
    return parseYaml(document)
  } catch (error) {
    if (!(error instanceof ApiSyntaxError)) throw error
    throw new ApiSyntaxError(`error converting YAML to JSON: ${error.message}`, { cause: error })
  }
}

// Parses concatenated JSON objects. The text is cut where braces balance; the remainder is parsed to obtain its error.
function parseJsonStream(text: string): unknown[] {
  const values: unknown[] = []
  let start = 0
  for (let depth = 0, inString = false, at = 0; at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{') depth++
    else if (char === '}' && --depth === 0) {
      values.push(parseJson(text.slice(start, at + 1)))
      start = at + 1
    }
  }
  const rest = text.slice(start)
  if (rest.trim() !== '') values.push(parseJson(rest))
  return values
}
