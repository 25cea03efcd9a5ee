import { kebab } from '../text/kebab.ts'
import type { ProjectResource } from './project.ts'

/** The names that the scaffold derives from a resource. */
export interface KindNames {
  /** The kind, which is also the name of the value: `AppService`. */
  readonly kind: string
  /** The start of the names of exports: `appService`. */
  readonly prefix: string
  /** The name of variables that hold an object of the kind: the prefix, unless that name is taken. */
  readonly variable: string
  /** The path of its files without suffixes, relative to the project: `src/app-service`. */
  readonly stem: string
}

/** Derives the names of a resource. */
export function namesOf(resource: Pick<ProjectResource, 'kind' | 'path' | 'core' | 'external'>): KindNames {
  const { kind, path } = resource
  const isForeign = resource.core === true || resource.external === true
  const stem = isForeign ? `src/${fileNameOf(kind)}` : path.replace(/\.ts$/, '')
  const prefix = variableOf(kebab(kind))
  return { kind, prefix, variable: isTaken(prefix) ? `the${kind}` : prefix, stem }
}

// Names that the templates use, and reserved words of TypeScript.
const taken =
  `apply condition env event expect failure file image isNew isUp labels log name namespace operator own podsOf ready run
  sample size spec spoke status test
  arguments await boolean break case catch class const continue debugger default delete do else enum eval export extends false finally
  for function if implements import in instanceof interface let new null number object package private protected public return static
  string super switch symbol this throw true try type typeof undefined var void while with yield`.split(/\s+/)

function isTaken(name: string): boolean {
  return taken.includes(name)
}

/** A kind with its article, guessed from the first letters: `an AppService`, `a Home`, `an HTTPRoute`. */
export function withArticle(kind: string): string {
  const hasVowel = /^[A-Z](?:[A-Z]|$)/.test(kind)
    ? /^[AEFHILMNORSX]/.test(kind)
    : /^(?:[AEIO]|U[dlmnpr])/.test(kind) && !/^(?:Eu|On(?:ce|e)(?![a-z])|Uni(?![mn]))/.test(kind)
  return `${hasVowel ? 'an' : 'a'} ${kind}`
}

/** `http-route` -> `httpRoute`. */
export function variableOf(name: string): string {
  return name.replaceAll(/[-.]+(\w?)/g, (_, letter: string) => letter.toUpperCase())
}

/** The name of the file of a kind without its extension. */
export function fileNameOf(kind: string): string {
  const name = kebab(kind)
  // Every project has operator.ts and main.ts.
  return name === 'operator' || name === 'main' ? `${name}-kind` : name
}

/** The specifier with which one file of the project imports another. Both paths are relative to the project. */
export function importPath(from: string, to: string): string {
  const source = from.split('/').slice(0, -1)
  const target = to.split('/')
  while (source.length > 0 && target.length > 1 && source[0] === target[0]) {
    source.shift()
    target.shift()
  }
  return source.length === 0 ? `./${target.join('/')}` : `${'../'.repeat(source.length)}${target.join('/')}`
}
