/** A file name in backquotes, with or without folders. */
const fileName = /`((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|md|json|js))`/g
/** Recipes use words in capitals for the names that the reader chooses. */
const placeholder = /(^|[-/])[A-Z]{3,}[-/.]/

/**
 * Reports the files that a page names and that do not exist. A page may omit the first folders, and `packages` and `src`: `http/listener.ts` and
 * `server/http/listener.ts` both stand for `packages/server/src/http/listener.ts`.
 */
export function namedFileProblems(page: string, text: string, files: readonly string[]): string[] {
  const paths = files.flatMap((file) => [`/${file}`, `/${file.replace(/^packages\/([\w-]+)\/src\//, '$1/')}`])
  const names = new Set([...text.matchAll(fileName)].flatMap(([, name = '']) => (placeholder.test(name) ? [] : [name])))
  return [...names]
    .filter((name) => !paths.some((path) => path.endsWith(`/${name}`)))
    .map((name) => `${page} names the file ${name}, which does not exist`)
}
