/** The share by which a stated number of lines may differ from the real one. */
const tolerance = 0.1

/**
 * Compares the numbers of lines that a page states, as in "`packages/a/src` has about 1,200 lines", with the sources. `linesOf` returns the
 * number of lines of the sources below a folder.
 */
export function lineCountProblems(page: string, text: string, linesOf: (folder: string) => number): string[] {
  return [...text.matchAll(/`([\w./-]+)` has about ([\d,]+) lines/g)].flatMap(([, folder = '', stated = '']) => {
    const lines = linesOf(folder)
    const isNear = Math.abs(Number(stated.replaceAll(',', '')) - lines) <= lines * tolerance
    return isNear ? [] : [`${page} states ${stated} lines for ${folder}, which has ${lines}`]
  })
}
