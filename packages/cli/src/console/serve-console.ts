import type { ConsoleSettings, ConsoleSubject } from '@kubewright/console'
import type { CommandContext } from '../command/command-context.ts'
import { lineLogger } from '../text/line-logger.ts'
import { openBrowser } from './open-browser.ts'

/** A console with its first link. */
export interface ServedConsole extends AsyncDisposable {
  /** Opens the console once. */
  readonly link: string
}

/** Serves the console and, with `open`, shows it in the web browser. */
export async function serveConsole(
  options: ConsoleSubject & Omit<ConsoleSettings, 'log' | 'clock'>,
  context: Pick<CommandContext, 'clock' | 'note' | 'importConsole'> & { readonly open: boolean },
): Promise<ServedConsole> {
  const { clock, note, open, importConsole = () => import('@kubewright/console') } = context
  // Loaded here, so that the program `up` does not contain the console, whose page is in another package.
  const { startConsole } = await importConsole()
  const console = await startConsole({ ...options, clock, log: lineLogger(note, false) })
  const link = console.createLink()
  // The browser gets a link of its own, so that the printed one still works.
  if (open) openBrowser(console.createLink(), note)
  return { link, [Symbol.asyncDispose]: () => console[Symbol.asyncDispose]() }
}
