import { createHash } from 'node:crypto'

/** A file that is generated from an operator. */
export interface GeneratedFile {
  readonly text: string
  /**
   * The handling of changes by the user: a `derived` file is always overwritten, an `editable` one is kept once it was changed, and a file
   * that is written `once` is never overwritten.
   */
  readonly care: 'derived' | 'editable' | 'once'
  /** The text that an editable file had when it was generated last. With it, changes of the user and new content are merged. */
  readonly base?: string | undefined
}

/** Files by path, with `/` between folders. */
export type GeneratedFiles = ReadonlyMap<string, GeneratedFile>

const heading = '# By kubewright generate; a changed file is not overwritten.'
const pattern = /^(?:# |\{\{- \/\* )By kubewright generate; [^\n]*\[([0-9a-f]{16})\](?: \*\/ -\}\})?\n/

/**
 * A file that the user may change. Its first line contains a checksum, which shows whether the user did. `base` is the text that was
 * generated last, if it is known.
 */
export function editable(text: string, base?: string): GeneratedFile {
  const headed = (body: string): string => `${heading} [${sumOf(body)}]\n${body}`
  return { text: headed(text), care: 'editable', ...(base === undefined ? {} : { base: headed(base) }) }
}

/** As {@link editable}, for Helm templates: the heading is not rendered. */
export function editableTemplate(text: string): GeneratedFile {
  return { text: `{{- /* ${heading.slice(2)} [${sumOf(text)}] */ -}}\n${text}`, care: 'editable' }
}

/** A file that is derived from the code and always overwritten. */
export function derived(text: string): GeneratedFile {
  return { text, care: 'derived' }
}

const derivedMark = 'By kubewright generate; always overwritten.'
const derivedPattern = /By kubewright generate; always (?:over)?written\./
const derivedSum = /^# By kubewright generate; always overwritten\. \[([0-9a-f]{16})\]\n/m

/** A derived file with a mark, by which it is removed when it is no longer generated, and by which changes of the user are noticed. */
export function marked(text: string): GeneratedFile {
  return derived(`# ${derivedMark} [${sumOf(text)}]\n${text}`)
}

/** As {@link marked}, with the mark at the end: programs expect manifests of controller-gen to begin with `---`. */
export function markedAtEnd(text: string): GeneratedFile {
  return derived(`${text}# ${derivedMark} [${sumOf(text)}]\n`)
}

/** Whether the user changed a derived file. False if it has no checksum. */
export function isChangedDerived(text: string): boolean {
  const match = derivedSum.exec(text)
  return match !== null && sumOf(text.replace(match[0], '')) !== match[1]
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
