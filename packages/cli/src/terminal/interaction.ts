import { Prompt } from './prompt.ts'

/** A user who can answer questions. */
export interface Interaction {
  /** Asks one question. Resolves to the answer, which may be empty. */
  ask(question: string): Promise<string>
}

/**
 * Asks at the terminal of the process. Undefined without a terminal, and in CI. Questions go to the standard error, so that scripts can
 * read the results.
 */
export function systemInteraction(
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Interaction | undefined {
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY || env['CI']) return undefined
  // One prompt for the process: it keeps answers that were typed ahead.
  const prompt = new Prompt({ input: stdin, output: stderr })
  return { ask: (question) => prompt.ask(question, signal) }
}
