import { UsageError } from '@kubewright/base'
import type { StaticToken } from '@kubewright/server'

/** The tokens of a file of `--token-auth-file`, and the lines that are ignored. */
export interface TokenFile {
  readonly tokens: StaticToken[]
  readonly warnings: string[]
}

/**
 * Parses a file of static tokens: CSV with the columns token, user name, user uid and optionally groups, which commas separate
 * (apiserver/pkg/authentication/token/tokenfile). Of equal tokens, the last one counts.
 */
export function parseTokenFile(text: string, file: string): TokenFile {
  const tokens = new Map<string, StaticToken>()
  const warnings: string[] = []
  for (const [index, record] of parseCsv(text, file).entries()) {
    const [token = '', name = '', uid = '', groups = ''] = record
    if (record.length < 3) {
      throw new UsageError(
        `token file '${file}' must have at least 3 columns (token, user name, user uid), found ${record.length}`,
      )
    }
    if (token === '') {
      warnings.push(`empty token has been found in token file '${file}', record number '${index + 1}'`)
      continue
    }
    if (tokens.has(token)) {
      warnings.push(`duplicate token has been found in token file '${file}', record number '${index + 1}'`)
    }
    const user = { name, uid, groups: groups === '' ? [] : groups.split(',') }
    tokens.set(token, { token, user })
  }
  return { tokens: [...tokens.values()], warnings }
}

/** The records of CSV (RFC 4180) as Go's encoding/csv reads them: empty lines are skipped, quoted fields may contain line breaks. */
function parseCsv(text: string, file: string): string[][] {
  const records: string[][] = []
  const field = /"((?:[^"]|"")*)"|([^",\n]*)/y
  const source = text.replaceAll('\r\n', '\n')
  let record: string[] = []
  let at = 0
  while (at < source.length) {
    if (record.length === 0 && source[at] === '\n') {
      at++
      continue
    }
    field.lastIndex = at
    const [whole = '', quoted, plain = ''] = field.exec(source) ?? []
    record.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    at += whole.length
    const next = source[at]
    if (next !== undefined && next !== ',' && next !== '\n') {
      throw new UsageError(`token file '${file}' is not valid CSV: unexpected quote in record ${records.length + 1}`)
    }
    // A comma at the very end starts an empty field.
    if (next === ',' && at + 1 >= source.length) record.push('')
    if (next !== ',') {
      records.push(record)
      record = []
    }
    at++
  }
  if (record.length > 0) records.push(record)
  return records
}
