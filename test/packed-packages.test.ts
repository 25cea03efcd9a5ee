// Every package is packed, unpacked into a project, imported and compiled against, as if it came from a registry.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const project = mkdtempSync(join(tmpdir(), 'kubewright-packed-'))
const node = process.execPath

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
}

const manifests = readdirSync(join(root, 'packages'))
  .filter((name) => existsSync(join(root, 'packages', name, 'package.json')))
  .map(
    (name) =>
      [name, JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest] as const,
  )
  .filter(([, manifest]) => manifest.private !== true)

beforeAll(() => {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
  const modules = join(project, 'node_modules')
  mkdirSync(modules, { recursive: true })
  for (const [folder, manifest] of manifests) {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', project, `./packages/${folder}`], { cwd: root })
    const tarball = readdirSync(project).find((file) => file.endsWith('.tgz'))!
    const target = join(modules, manifest.name)
    mkdirSync(target, { recursive: true })
    execFileSync('tar', ['-xzf', join(project, tarball), '-C', target, '--strip-components=1'])
    rmSync(join(project, tarball))
    for (const dependency of Object.keys(manifest.dependencies ?? {})) {
      if (dependency.includes('kubewright') || existsSync(join(modules, dependency))) continue
      symlinkSync(join(root, 'node_modules', dependency), join(modules, dependency))
    }
  }
  symlinkSync(join(root, 'node_modules/@types'), join(modules, '@types'))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'consumer', type: 'module', private: true }))
}, 120_000)

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('a packed package', () => {
  for (const [, { name, exports }] of manifests) {
    const entries = Object.keys(exports).filter((entry) => !entry.includes('*') && !entry.endsWith('.json'))
    test(`${name} can be imported by each of its entry points`, () => {
      const specifiers = entries.map((entry) => name + entry.slice(1))
      const script = specifiers.map((specifier) => `await import(${JSON.stringify(specifier)})`).join('\n')
      execFileSync(node, ['--input-type=module', '-e', script], { cwd: project })
    })
  }

  test('kubewright and @kubewright/cli run the command, packed and in a clone', () => {
    const modules = join(project, 'node_modules')
    for (const folder of [
      join(modules, 'kubewright'),
      join(modules, '@kubewright/cli'),
      'packages/kubewright',
      'packages/cli',
    ]) {
      const command = join(folder, 'bin/kubewright.js')
      expect(execFileSync(node, [command, '--version'], { cwd: root, encoding: 'utf8' })).toMatch(/^kubewright \d/)
    }
  })

  test('@kubewright/cli contains the program that dev starts', () => {
    const dist = join(project, 'node_modules/@kubewright/cli/dist')
    // Started without a parent process, it refuses to run.
    const { status, stderr } = spawnSync(node, [join(dist, 'operator-main.js')], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining('kubewright dev starts this program'),
    })
  })

  test('@kubewright/cli contains the programs that envtest starts', () => {
    const command = join(project, 'node_modules/@kubewright/cli/bin/kubewright.js')
    const args = [command, 'envtest', 'use', '-p', 'path', '--bin-dir', join(project, 'envtest')]
    const assets = execFileSync(node, args, { cwd: project, encoding: 'utf8' }).trim()
    for (const [program, flag] of Object.entries({
      etcd: '--listen-client-urls',
      'kube-apiserver': '--bind-address',
    })) {
      const { status, stderr } = spawnSync(join(assets, program), [`${flag}=x`], { encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(`${flag} must be`) })
    }
  })

  test('@kubewright/cli serves a control plane, and keeps compiled code for the next start', async () => {
    const command = join(project, 'node_modules/@kubewright/cli/bin/kubewright.js')
    const cache = join(project, 'cache')
    const env = { ...process.env, XDG_CACHE_HOME: cache }
    const start = async () => {
      const child = spawn(node, [command, 'up', '--memory', '--port', '0', '--console'], { cwd: project, env })
      const notes: string[] = []
      createInterface({ input: child.stderr }).on('line', (line) => notes.push(line))
      const exited = once(child, 'close')
      const [ready] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
      child.kill('SIGTERM')
      const [code] = (await exited) as [unknown]
      return { ready, code, warnings: notes.filter((line) => line.includes('Warning')), notes: notes.join('\n') }
    }
    // The console is in another package, which the program imports.
    const notes = expect.stringContaining('Console: http://127.0.0.1')
    const served = { ready: expect.stringMatching(/^ready https:/), code: 0, warnings: [], notes }
    expect(await start()).toEqual(served)
    const kept = readdirSync(join(cache, 'kubewright/code'))
    expect(kept).toEqual([expect.stringMatching(/^up-program\.cjs-v.*\.v8code$/)])
    const written = statSync(join(cache, 'kubewright/code', kept[0]!)).mtimeMs
    expect(await start()).toEqual(served)
    // The second start used the code: otherwise it would have written it again.
    expect(statSync(join(cache, 'kubewright/code', kept[0]!)).mtimeMs).toBe(written)
  })

  test('kubewright types the user code of the sketch', () => {
    cpSync(join(root, 'test/sketch'), join(project, 'src'), { recursive: true })
    const compilerOptions = {
      target: 'es2022',
      module: 'nodenext',
      lib: ['es2023', 'esnext.disposable'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      // Without skipLibCheck: the published declarations must be valid by themselves.
      types: ['node'],
    }
    const exclude = ['src/**/*.test.ts']
    expect(compile({ compilerOptions, include: ['src'], exclude })).toBe('')
    // With its test. The declarations of the test runner are not checked.
    symlinkSync(join(root, 'node_modules/vitest'), join(project, 'node_modules/vitest'))
    expect(compile({ compilerOptions: { ...compilerOptions, skipLibCheck: true }, include: ['src'] })).toBe('')
  })
})

/** The errors of the compiler for the project. */
function compile(config: object): string {
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config))
  try {
    return execFileSync(node, [join(root, 'node_modules/ts7/bin/tsc'), '-p', project], { encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
