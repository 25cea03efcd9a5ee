import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Suite } from './harness.ts'

const root = join(import.meta.dirname, '..')
const rounds = 7

interface Cost {
  readonly cpuMillis: number
  readonly rssMiB: number
}

/** Imports a built package in a separate process and returns the cost. */
function importCost(specifier: string): Cost {
  // A file next to the packages, so that the specifier resolves; evaluating a string would add to the cost.
  const file = join(root, `import-cost-${process.pid}.mjs`)
  const wanted = specifier === '' ? '' : `await import(${JSON.stringify(specifier)})`
  writeFileSync(
    file,
    `const before = process.cpuUsage()
${wanted}
const { user, system } = process.cpuUsage(before)
console.log(JSON.stringify({ cpuMillis: (user + system) / 1000, rssMiB: process.memoryUsage.rss() / 1048576 }))`,
  )
  try {
    return JSON.parse(execFileSync(process.execPath, [file], { encoding: 'utf8' })) as Cost
  } finally {
    rmSync(file)
  }
}

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly resolved?: string
  readonly link?: boolean
}

/** Returns the number of packages that a package installs, including itself, according to the lock file. */
function packagesOf(name: string): number {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, LockedPackage>>
  }
  const found = new Set<string>()
  const visit = (one: string): void => {
    if (found.has(one)) return
    found.add(one)
    const entry = lock.packages[`node_modules/${one}`]
    const real = entry?.link ? lock.packages[entry.resolved ?? ''] : entry
    for (const dependency of Object.keys(real?.dependencies ?? {})) visit(dependency)
  }
  visit(name)
  return found.size
}

/** Returns the best of several rounds, in which the specifiers take turns. */
function best(specifiers: readonly string[]): Map<string, Cost> {
  const found = new Map<string, Cost>()
  for (let round = 0; round < rounds; round++) {
    for (const specifier of specifiers) {
      const cost = importCost(specifier)
      const known = found.get(specifier)
      found.set(specifier, {
        cpuMillis: Math.min(cost.cpuMillis, known?.cpuMillis ?? Number.POSITIVE_INFINITY),
        rssMiB: Math.min(cost.rssMiB, known?.rssMiB ?? Number.POSITIVE_INFINITY),
      })
    }
  }
  return found
}

/** The cost of importing a package. */
export const suite: Suite = {
  title: 'Imports',
  about:
    'CPU and memory of a process that only imports a package; best of seven. The packages are imported as built (`npm run build`). The target of the façade is 50 ms.',
  report: async () => {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'ignore' })
    const specifiers = ['', 'kubewright', 'kubewright/k8s', 'kubewright/testing', '@kubernetes/client-node']
    const costs = best(specifiers)
    const facade = costs.get('kubewright')!
    return [
      '| import | CPU | memory of the process | CPU relative to the façade | installed packages |',
      '|---|---|---|---|---|',
      ...specifiers.map((specifier) => {
        const { cpuMillis, rssMiB } = costs.get(specifier)!
        const factor = specifier === '' ? '–' : `${(cpuMillis / facade.cpuMillis).toFixed(2)}×`
        const packages = specifier === '' ? '–' : packagesOf(specifier.replace(/^kubewright\/.*/, 'kubewright'))
        return `| ${specifier || 'nothing'} | ${cpuMillis.toFixed(0)} ms | ${rssMiB.toFixed(0)} MiB | ${factor} | ${packages} |`
      }),
    ]
  },
}
