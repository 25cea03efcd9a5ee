import { createHash } from 'node:crypto'

/** A file that is made from an operator. */
export interface GeneratedFile {
  readonly text: string
  /**
   * What becomes of changes that people make: a `derived` file is written over, as its content follows from code alone; an `editable`
   * one is left alone once it was changed; one that is written `once` is left alone whatever it is.
   */
  readonly care: 'derived' | 'editable' | 'once'
}

/** Files by their paths, `/` between folders. */
export type GeneratedFiles = ReadonlyMap<string, GeneratedFile>

const heading = '# By kubewright generate; changed files are left alone.'
const pattern = /^# By kubewright generate; [^\n]*\[([0-9a-f]{16})\]\n/

/** A file that people may change: it begins with a line that shows whether they did. */
export function editable(text: string): GeneratedFile {
  return { text: `${heading} [${sumOf(text)}]\n${text}`, care: 'editable' }
}

/** A file whose content follows from code alone. */
export function derived(text: string): GeneratedFile {
  return { text, care: 'derived' }
}

const derivedMark = 'By kubewright generate; always written.'

/** A file whose content follows from code alone, and that is removed when it is not made any more. */
export function marked(text: string): GeneratedFile {
  return derived(`# ${derivedMark}\n${text}`)
}

/** As {@link marked}, for templates: what they render to has nothing of the mark, and may be empty. */
export function markedTemplate(text: string): GeneratedFile {
  return derived(`{{- /* ${derivedMark} */ -}}\n${text}`)
}

/** Whether a text says in its first line that it was made here and is not for people to change. */
export function isMarked(text: string): boolean {
  return text.slice(0, 100).split('\n', 1)[0]!.includes(derivedMark)
}

/** What an existing text says about itself. */
export interface Provenance {
  /** Whether it is as it was made. */
  readonly isUntouched: boolean
  /** The sum of what it was made as; undefined when it was not made here, or the heading was taken away. */
  readonly madeAs: string | undefined
}

/** Reads whether a text is as it was made. */
export function provenanceOf(text: string): Provenance {
  const match = pattern.exec(text)
  if (!match) return { isUntouched: false, madeAs: undefined }
  return { isUntouched: sumOf(text.slice(match[0].length)) === match[1], madeAs: match[1] }
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
