// Completes package-lock.json with the optional packages of other platforms. Behind a registry mirror that has one
// platform only, npm omits the others, and `npm ci` then rejects the file. Run it after `npm install` behind such a
// mirror; elsewhere it changes nothing.
import { readFileSync, writeFileSync } from 'node:fs'

interface Entry {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  engines?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32']
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32']

/** Returns the platform of a package, read from its name: `…-linux-arm64-musl`. */
function platformOf(name: string): Pick<Entry, 'os' | 'cpu' | 'libc'> | undefined {
  const words = name.split(/[/-]/)
  const os = name === 'fsevents' ? 'darwin' : systems.find((system) => words.includes(system))
  const cpu = processors.find((processor) => words.includes(processor))
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : words.includes('gnu') ? 'glibc' : undefined
  if (os === undefined && cpu !== 'wasm32') return undefined
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(libc ? { libc: [libc] } : {}), ...(os ? { os: [os] } : {}) }
}

const file = 'package-lock.json'
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Entry> }
const added: string[] = []
for (const [parent, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${parent}/node_modules/${name}`
    const hoisted = `node_modules/${name}`
    if (lock.packages[nested] || lock.packages[hoisted]) continue
    const platform = platformOf(name)
    if (!platform || !/^\d/.test(version.replace(/^[~^]/, ''))) {
      console.error(`${name} ${version} (of ${parent}) is missing and its name contains no platform: skipped`)
      continue
    }
    lock.packages[hoisted] = {
      version: version.replace(/^[~^]/, ''),
      ...platform,
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
    }
    added.push(name)
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'The lock file is complete' : `${added.length} packages of other platforms added`)
