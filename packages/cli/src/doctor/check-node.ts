import type { Finding } from './finding.ts'

const oldest = { major: 20, minor: 19 }
/** Which versions run TypeScript as it is. */
const stripsTypes = { major: 22, minor: 18 }

/** Whether Node is new enough, and what it takes to run TypeScript. */
export function checkNode(version: string, hasTsx: boolean): Finding[] {
  const check = 'Node'
  if (!isAtLeast(version, oldest)) {
    const cure = 'install the newest LTS version from https://nodejs.org'
    return [{ check, level: 'failed', message: `${version} is too old: 20.19 is the oldest that works`, cure }]
  }
  if (isAtLeast(version, stripsTypes)) return [{ check, level: 'ok', message: `${version} runs TypeScript as it is` }]
  if (hasTsx) return [{ check, level: 'ok', message: `${version}, with tsx for TypeScript` }]
  const cure = 'npm install --save-dev tsx, or use Node 22.18 or later'
  return [
    { check, level: 'warning', message: `${version} runs TypeScript with tsx only, which is not installed`, cure },
  ]
}

function isAtLeast(version: string, wanted: { readonly major: number; readonly minor: number }): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major > wanted.major || (major === wanted.major && minor >= wanted.minor)
}
