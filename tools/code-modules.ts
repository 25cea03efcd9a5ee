/** A module of a page: a fenced `ts` block with the blocks after it that start with `// continues`. */
export interface CodeModule {
  /** The path under which other blocks of the page import it, or a path of its own. */
  readonly name: string
  readonly code: string
  /** For each block the line of its fence in the page, and where it starts in the code. */
  readonly parts: readonly { readonly line: number; readonly start: number }[]
}

/**
 * Returns the modules of a page. A block that starts with the path of a file, such as `// src/site.ts`, has that path;
 * if several blocks have the same path, others import the last one.
 */
export function codeModulesOf(text: string): CodeModule[] {
  const modules: { name: string; code: string; parts: { line: number; start: number }[] }[] = []
  for (const match of text.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```$/gm)) {
    const code = match[1]!
    const line = text.slice(0, match.index).split('\n').length
    const last = modules.at(-1)
    if (code.startsWith('// continues') && last) {
      last.parts.push({ line, start: last.code.length })
      last.code += code
      continue
    }
    const name = /^\/\/ (\S+\.ts)\n/.exec(code)?.[1] ?? `block-${line}.ts`
    const earlier = modules.find((one) => one.name === name)
    if (earlier) earlier.name = name.replace(/\.ts$/, `-${earlier.parts[0]!.line}.ts`)
    modules.push({ name, code, parts: [{ line, start: 0 }] })
  }
  return modules
}
