import { createHash } from 'node:crypto'

/** A file that is generated from an operator. */
export interface GeneratedFile {
  readonly text: string
  /**
   * The handling of changes by the user: a `derived` file is always overwritten, an `editable` one is kept once it was changed, and a file
   * that is written `once` is never overwritten.
   */
  readonly care: 'derived' | 'editable' | 'once'
}

/** Files by path, with `/` between folders. */
export type GeneratedFiles = ReadonlyMap<string, GeneratedFile>

const heading = '# By kubewright generate; a changed file is not overwritten.'
const pattern = /^# By kubewright generate; [^\n]*\[([0-9a-f]{16})\]\n/

/** A file that the user may change. Its first line contains a checksum, which shows whether the user did. */
export function editable(text: string): GeneratedFile {
  return { text: `${heading} [${sumOf(text)}]\n${text}`, care: 'editable' }
}

/** A file that is derived from the code and always overwritten. */
export function derived(text: string): GeneratedFile {
  return { text, care: 'derived' }
}

const derivedMark = 'By kubewright generate; always overwritten.'
const derivedPattern = /By kubewright generate; always (?:over)?written\./

/** A derived file with a mark, by which it is removed when it is no longer generated. */
export function marked(text: string): GeneratedFile {
  return derived(`# ${derivedMark}\n${text}`)
}

/** As {@link marked}, for Helm templates: the mark is not rendered, and the rendered file may be empty. */
export function markedTemplate(text: string): GeneratedFile {
  return derived(`{{- /* ${derivedMark} */ -}}\n${text}`)
}

/** Whether the first line of a text contains the mark of derived files. */
export function isMarked(text: string): boolean {
  return derivedPattern.test(text.slice(0, 100).split('\n', 1)[0]!)
}

/** The origin of an existing file. */
export interface Provenance {
  /** Whether the file is as it was generated. */
  readonly isUntouched: boolean
  /** The checksum of the generated text; undefined if the file was not generated, or its heading was removed. */
  readonly madeAs: string | undefined
}

/** Reads the origin of a file from its heading. */
export function provenanceOf(text: string): Provenance {
  const match = pattern.exec(text)
  if (!match) return { isUntouched: false, madeAs: undefined }
  return { isUntouched: sumOf(text.slice(match[0].length)) === match[1], madeAs: match[1] }
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
