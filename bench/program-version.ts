import { execFileSync } from 'node:child_process'

/** Returns the version that a program on PATH prints, or undefined if there is none. */
export function programVersion(name: string): string | undefined {
  try {
    return /v?\d+\.\d+\.\d+/.exec(execFileSync(name, ['--version'], { encoding: 'utf8' }))?.[0]
  } catch {
    return undefined
  }
}
