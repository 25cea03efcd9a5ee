import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeJson, looksLikeJson, parseManifests, splitYamlDocuments } from '@kubewright/api'
import { errorText, KubewrightError, UsageError } from '@kubewright/base'
import { filesOfKustomize, isKustomizationFile } from './kustomize-files.ts'

/** One document of a manifest file. */
export interface ManifestDocument {
  /** As given; `-` for the standard input. */
  readonly file: string
  /** The first line of the document, counted from 1. */
  readonly line: number
  /** The source of the document, for strict decoding. */
  readonly text: string
  /** The parsed document; undefined if it is not valid. */
  readonly value: unknown
  /** Why the document cannot be parsed. */
  readonly problem?: string | undefined
}

/** The options of {@link readManifests}. */
export interface ReadManifestsOptions {
  /** @default that of this process */
  readonly stdin?: AsyncIterable<Uint8Array | string> | undefined
}

const endings = /\.(ya?ml|json)$/
// Folders without manifests of the project.
const skipped = /^(\..+|node_modules)$/

/**
 * Reads manifests from files, from folders recursively, and from the standard input, named `-`. Lists are not split. Empty documents are
 * skipped; a document that cannot be parsed has a `problem`. In a folder, kustomizations and their patches are skipped.
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

/** Reads manifests as {@link readManifests} does, but throws if one cannot be parsed. */
export async function readSoundManifests(names: readonly string[]): Promise<ManifestDocument[]> {
  const documents = await readManifests(names)
  const broken = documents.find(({ problem }) => problem !== undefined)
  if (broken !== undefined) throw new KubewrightError('KW_MANIFEST', `${broken.file}:${broken.line}: ${broken.problem}`)
  return documents
}

/** Prints a hint if the manifests come from a terminal, where nothing else shows that the command waits. */
export function noteInput(names: readonly string[], note: (line: string) => void): void {
  if (names.includes('-') && process.stdin.isTTY) note('Reading manifests from the terminal: end with Ctrl-D')
}

async function filesAt(name: string): Promise<string[]> {
  if (/^https?:\/\//.test(name)) {
    throw new UsageError(`${name} is a URL: download it first, for example with curl -fsSL -o FILE ${name}`)
  }
  if (!(await stat(name)).isDirectory()) return [name]
  const files: string[] = []
  const skippedFiles = new Set<string>()
  const entries = await readdir(name, { withFileTypes: true })
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(name, entry.name)
    if (entry.isDirectory() && !skipped.test(entry.name)) files.push(...(await filesAt(path)))
    else if (entry.isFile() && isKustomizationFile(entry.name)) {
      for (const file of filesOfKustomize(await readFile(path, 'utf8'))) skippedFiles.add(join(name, file))
    } else if (entry.isFile() && endings.test(entry.name)) files.push(path)
  }
  return files.filter((file) => !skippedFiles.has(file))
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
    // Throws for invalid document separators, as kubectl does.
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

/** The documents of a YAML stream, each with the line of its first content. */
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
