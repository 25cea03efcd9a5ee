// `npm run image -- FOLDER`: writes the files of the image of the kubewright command, images/kubewright/Dockerfile. Copies the built
// packages that @kubewright/cli needs, without types and sources. Run `npm run build` before.
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isOwn } from './release/one-version.ts'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Stated in the documentation, and checked here: what the image adds to its base. */
const maxMebibytes = 60

const [target] = process.argv.slice(2)
if (target === undefined) throw new Error('Usage: npm run image -- FOLDER')
rmSync(target, { recursive: true, force: true })
const copied = new Set<string>()
copyPackage('@kubewright/cli')
const { version } = manifestOf('node_modules/@kubewright/cli')
writeFileSync(join(target, 'package.json'), `${JSON.stringify({ name: 'kubewright-image', version, private: true })}\n`)
const mebibytes = sizeOf(target) / 2 ** 20
console.log(`${target}: ${copied.size} packages, ${mebibytes.toFixed(1)} MiB`)
if (mebibytes > maxMebibytes) {
  console.error(`The image must not add more than ${maxMebibytes} MiB to its base`)
  process.exitCode = 1
}

/** Copies a package and those that it needs. */
function copyPackage(name: string): void {
  if (copied.has(name)) return
  copied.add(name)
  const source = join('node_modules', name)
  const manifest = manifestOf(source)
  if (isOwn(name) && !existsSync(join(source, 'dist/index.js')))
    throw new Error(`${name} is not built: run npm run build`)
  const to = join(target!, 'node_modules', name)
  mkdirSync(to, { recursive: true })
  for (const part of isOwn(name) ? ['package.json', 'LICENSE', 'NOTICE', 'bin', 'dist'] : ['.']) {
    const from = join(source, part)
    if (!existsSync(from)) continue
    cpSync(from, join(to, part), {
      recursive: true,
      dereference: true,
      filter: (file) => !/\.d\.ts(\.map)?$|\.tsbuildinfo$|\.js\.map$/.test(relative(source, file)),
    })
  }
  for (const dependency of Object.keys(manifest.dependencies ?? {})) copyPackage(dependency)
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0)
}
