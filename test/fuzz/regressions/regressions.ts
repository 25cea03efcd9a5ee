// Inputs that failed once. The command stores them here, and the tests check them first.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FuzzInput } from '../decoders/decoder-target.ts'
import type { FuzzRequest } from '../requests/fuzz-request.ts'

const folder = import.meta.dirname

/** A stored input: text, bytes in base64, or a request. */
type Stored = { readonly text: string } | { readonly base64: string } | { readonly request: FuzzRequest }

/** The stored inputs of a decoder. */
export function storedInputs(name: string): { readonly file: string; readonly input: FuzzInput }[] {
  return storedIn(name).flatMap(({ file, stored }): { file: string; input: FuzzInput }[] => {
    if ('text' in stored) return [{ file, input: stored.text }]
    return 'base64' in stored ? [{ file, input: Buffer.from(stored.base64, 'base64') }] : []
  })
}

/** The stored requests. */
export function storedRequests(): FuzzRequest[] {
  return storedIn('requests').flatMap(({ stored }) => ('request' in stored ? [stored.request] : []))
}

/** Stores an input of a decoder or a request as a regression case. Returns the path of the file. */
export function storeRegression(name: string, input: FuzzInput | FuzzRequest): string {
  const stored: Stored =
    typeof input === 'string'
      ? { text: input }
      : Buffer.isBuffer(input)
        ? { base64: input.toString('base64') }
        : { request: input }
  const text = `${JSON.stringify(stored, undefined, 2)}\n`
  const file = join(folder, name, `${createHash('sha256').update(text).digest('hex').slice(0, 12)}.json`)
  mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(file, text)
  return file
}

function storedIn(name: string): { readonly file: string; readonly stored: Stored }[] {
  const path = join(folder, name)
  if (!existsSync(path)) return []
  return readdirSync(path)
    .sort()
    .map((file) => ({ file, stored: JSON.parse(readFileSync(join(path, file), 'utf8')) as Stored }))
}
