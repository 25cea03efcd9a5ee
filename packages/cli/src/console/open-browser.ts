import { spawn } from 'node:child_process'

/** The command that opens a URL, by platform. */
const openers: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens a URL in the user's web browser. A failure is only noted: the user can open the printed link. */
export function openBrowser(url: string, note: (line: string) => void): void {
  const [program = 'xdg-open', ...args] = openers[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => note(`Cannot start ${program}: open the printed link in a web browser`))
  child.unref()
}
