import type { Finding } from './finding.ts'

const oldest = { major: 20, minor: 19 }
/** The first version that strips types without a flag. */
const stripsTypes = { major: 22, minor: 18 }

/** Checks the version of Node and its support for TypeScript. */
export function checkNode(version: string, hasTsx: boolean): Finding[] {
  const check = 'Node'
  if (!isAtLeast(version, oldest)) {
    const fix = 'install the newest LTS version from https://nodejs.org'
    return [{ check, level: 'failed', message: `${version} is too old: 20.19 is required`, fix }]
  }
  if (isAtLeast(version, stripsTypes))
    return [{ check, level: 'ok', message: `${version}, with built-in support for TypeScript` }]
  if (hasTsx) return [{ check, level: 'ok', message: `${version}, with tsx for TypeScript` }]
  const fix = 'run npm install --save-dev tsx, or use Node 22.18 or later'
  return [{ check, level: 'warning', message: `${version} needs tsx for TypeScript, which is not installed`, fix }]
}

function isAtLeast(version: string, wanted: { readonly major: number; readonly minor: number }): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major > wanted.major || (major === wanted.major && minor >= wanted.minor)
}
