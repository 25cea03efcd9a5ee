import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeJson, looksLikeJson, parseManifests, splitYamlDocuments } from '@kubewright/api'
import { errorText, UsageError } from '@kubewright/base'
import { filesOfKustomize, isKustomizationFile } from './kustomize-files.ts'

/** One document of a file of manifests. */
export interface ManifestDocument {
  /** As it was named; `-` for the standard input. */
  readonly file: string
  /** The line that the document starts on, counted from 1. */
  readonly line: number
  /** The document as it was written, for whoever wants to be strict about it. */
  readonly text: string
  /** What the document says; undefined if it cannot be read. */
  readonly value: unknown
  /** Why the document cannot be read. */
  readonly problem?: string
}

/** What {@link readManifests} takes besides the names. */
export interface ReadManifestsOptions {
  /** @default that of this process */
  readonly stdin?: AsyncIterable<Uint8Array | string>
}

const endings = /\.(ya?ml|json)$/
// Folders that hold no manifests of their own.
const skipped = /^(\..+|node_modules)$/

/**
 * Reads the manifests in files, in folders with all that is below them, and on the standard input, which is named `-`. Lists are
 * not taken apart. Documents that hold nothing are left out; one that cannot be read says why. What belongs to kustomize in a folder, a
 * kustomization and its patches, is no manifest.
 */
export async function readManifests(
  names: readonly string[],
  options: ReadManifestsOptions = {},
): Promise<ManifestDocument[]> {
  const documents: ManifestDocument[] = []
  for (const name of names) {
    for (const file of name === '-' ? ['-'] : await filesAt(name)) {
      const text = file === '-' ? await readStream(options.stdin ?? process.stdin) : await readFile(file, 'utf8')
      documents.push(...documentsOf(text, file))
    }
  }
  return documents
}

/** Reads manifests as {@link readManifests} does, and throws for one that cannot be read: for what others are measured by. */
export async function readSoundManifests(names: readonly string[]): Promise<ManifestDocument[]> {
  const documents = await readManifests(names)
  const broken = documents.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) throw new Error(`${broken.file}:${broken.line}: ${broken.problem}`)
  return documents
}

/** Prints a hint if the manifests come from a terminal, where nothing else shows that the command waits. */
export function noteInput(names: readonly string[], note: (line: string) => void): void {
  if (names.includes('-') && process.stdin.isTTY) note('Reading manifests from the terminal: end with Ctrl-D')
}

async function filesAt(name: string): Promise<string[]> {
  if (/^https?:\/\//.test(name)) {
    throw new UsageError(`${name} is not fetched: download it first, for instance with curl -fsSL -o FILE ${name}`)
  }
  if (!(await stat(name)).isDirectory()) return [name]
  const files: string[] = []
  const leftOut = new Set<string>()
  const entries = await readdir(name, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(name, entry.name)
    if (entry.isDirectory() && !skipped.test(entry.name)) files.push(...(await filesAt(path)))
    else if (entry.isFile() && isKustomizationFile(entry.name)) {
      for (const file of filesOfKustomize(await readFile(path, 'utf8'))) leftOut.add(join(name, file))
    } else if (entry.isFile() && endings.test(entry.name)) files.push(path)
  }
  return files.filter((file) => !leftOut.has(file))
}

async function readStream(stream: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** The documents of a text. */
export function documentsOf(text: string, file: string): ManifestDocument[] {
  try {
    if (looksLikeJson(text)) {
      const values = parseManifests(text)
      return values.map((value) => ({
        file,
        line: 1,
        text: values.length === 1 ? text : encodeJson(value),
        value,
      }))
    }
    // Checks that separators are separators, as kubectl does.
    splitYamlDocuments(text)
  } catch (error) {
    return [{ file, line: 1, text, value: undefined, problem: errorText(error) }]
  }
  return sections(text).flatMap(({ line, text }): ManifestDocument[] => {
    try {
      return parseManifests(text).map((value) => ({ file, line, text, value }))
    } catch (error) {
      return [{ file, line, text, value: undefined, problem: errorText(error) }]
    }
  })
}

/** The documents of a YAML stream, each with the line that its first text is on. */
function sections(text: string): { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = []
  let lines: string[] = []
  const all = text.split(/\r?\n/)
  const flush = (end: number): void => {
    const first = lines.findIndex((line) => line.trim() !== '' && !line.trimStart().startsWith('#'))
    if (first >= 0) found.push({ line: end - lines.length + first + 1, text: `${lines.join('\n')}\n` })
    lines = []
  }
  for (const [index, line] of all.entries()) {
    if (line.startsWith('---')) flush(index)
    else lines.push(line)
  }
  flush(all.length)
  return found
}
