import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../run-command.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubewright-build-'))
  write('package.json', '{"type":"module"}')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

/** Makes the esbuild of this repository available to the project. */
function installEsbuild(at = 'node_modules/esbuild'): void {
  mkdirSync(dirname(join(folder, at)), { recursive: true })
  symlinkSync(dirname(createRequire(import.meta.url).resolve('esbuild/package.json')), join(folder, at))
}

async function build(...args: string[]): Promise<{ code: number; out: string[]; notes: string[] }> {
  const out: string[] = []
  const notes: string[] = []
  const code = await runCommand(['build', ...args], {
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
    env: {},
    clock: systemClock,
    startedAt: 0,
    folder,
    signal: new AbortController().signal,
  })
  return { code, out, notes }
}

/** Runs the built file in a folder of its own, where it finds no packages. */
function runBuilt(file = 'dist/operator.mjs', ...flags: string[]): string {
  const elsewhere = mkdtempSync(join(tmpdir(), 'kubewright-built-'))
  try {
    for (const name of [file, `${file}.map`]) {
      if (existsSync(join(folder, name)))
        writeFileSync(join(elsewhere, name.replace(/.*\//, '')), readFileSync(join(folder, name)))
    }
    return execFileSync(process.execPath, [...flags, join(elsewhere, file.replace(/.*\//, ''))], { encoding: 'utf8' })
  } finally {
    rmSync(elsewhere, { recursive: true, force: true })
  }
}

describe('kubewright build', () => {
  test('writes the program and its packages to one file', async () => {
    installEsbuild()
    write(
      'src/main.ts',
      `import { name } from 'lib'; import { other } from './other.ts'; console.log(name as string, await other)`,
    )
    write(
      'src/other.ts',
      `export const other: Promise<number> = Promise.resolve(1); export const unused = 'not needed'`,
    )
    write('node_modules/lib/package.json', '{"main":"index.js"}')
    write(
      'node_modules/lib/index.js',
      `exports.name = typeof require('node:os').hostname() + ' ' + require('os').EOL.length`,
    )
    const { code, out, notes } = await build()
    expect({ code, notes }).toEqual({ code: 0, notes: [] })
    expect(out).toEqual([expect.stringMatching(/^Wrote dist\/operator\.mjs \(\d KiB, 3 modules\)$/)])
    expect(runBuilt()).toBe('string 1 1\n')
    expect(readFileSync(join(folder, 'dist/operator.mjs'), 'utf8')).not.toContain('not needed')
  })

  test('keeps a require of the program', async () => {
    installEsbuild()
    write(
      'src/main.ts',
      `import { createRequire } from 'node:module'; import 'lib'; const require = createRequire(import.meta.url); console.log(require('node:path').sep)`,
    )
    write('node_modules/lib/package.json', '{"main":"index.js"}')
    write('node_modules/lib/index.js', `console.log(require('node:path').sep)`)
    expect((await build()).code).toBe(0)
    expect(runBuilt()).toBe('/\n/\n')
  })

  test('uses the esbuild of tsx', async () => {
    write('node_modules/tsx/package.json', '{"main":"index.js"}')
    write('node_modules/tsx/index.js', '')
    installEsbuild('node_modules/tsx/node_modules/esbuild')
    write('src/main.ts', 'console.log(1)')
    expect((await build()).code).toBe(0)
  })

  test('names the cure if the project has no esbuild', async () => {
    write('src/main.ts', 'console.log(1)')
    const { code, notes } = await build()
    expect(code).toBe(2)
    expect(notes.join('\n')).toContain(`esbuild is not installed in ${folder}: run npm install --save-dev esbuild`)
  })

  test('writes a source map that maps to the sources', async () => {
    installEsbuild()
    write('src/main.ts', `\n\nconst text: string = new Error('x').stack ?? ''\nconsole.log(text)`)
    expect((await build('--source-map', '--outfile', 'out/it.mjs')).code).toBe(0)
    expect(runBuilt('out/it.mjs', '--enable-source-maps')).toContain('src/main.ts:3:')
  })

  test('leaves external packages out', async () => {
    installEsbuild()
    write('src/main.ts', `import 'native'`)
    const { code, notes } = await build()
    expect(code).toBe(1)
    expect(notes[0]).toBe('kubewright build: src/main.ts cannot be bundled')
    expect(notes[1]).toMatch(/^ {2}src\/main\.ts:1:8: Could not resolve "native"/)
    expect(existsSync(join(folder, 'dist'))).toBe(false)
    expect((await build('--external', 'native')).code).toBe(0)
    expect(readFileSync(join(folder, 'dist/operator.mjs'), 'utf8')).toContain('import"native"')
  })

  test('explains that native code cannot be bundled', async () => {
    installEsbuild()
    write('src/main.ts', `import 'native'`)
    write('node_modules/native/package.json', '{"main":"index.js"}')
    write('node_modules/native/index.js', `require('./it.node')`)
    write('node_modules/native/it.node', '')
    const { code, notes } = await build()
    expect(code).toBe(1)
    expect(notes.join('\n')).toContain('leave its package out with --external PACKAGE')
  })

  test('refuses a program that contains the API server', async () => {
    installEsbuild()
    write('src/main.ts', `import { env } from './env.ts'; console.log(env)`)
    write('src/env.ts', `export { serve as env } from '@kubewright/server'`)
    write(
      'node_modules/@kubewright/server/package.json',
      '{"name":"@kubewright/server","type":"module","main":"dist/index.js"}',
    )
    write('node_modules/@kubewright/server/dist/index.js', `export const serve = () => process.pid`)
    const { code, notes } = await build()
    expect(code).toBe(2)
    expect(notes.join('\n')).toContain(
      'src/main.ts imports src/env.ts imports node_modules/@kubewright/server/dist/index.js',
    )
    expect(existsSync(join(folder, 'dist'))).toBe(false)
    // An import that is not used leaves no code.
    write(
      'src/main.ts',
      `import { env } from './env.ts'; type Env = typeof env; console.log(({} as Env) !== undefined)`,
    )
    expect((await build()).code).toBe(0)
  })

  test('notes that a module with exports may not be a program', async () => {
    installEsbuild()
    write('src/operator.ts', `export const operator = 1`)
    const { code, notes } = await build()
    expect({ code, notes }).toEqual({
      code: 0,
      notes: ['src/operator.ts exports operator: the file starts the operator only if the module calls run(operator)'],
    })
  })

  test('requires the extension of ES modules', async () => {
    write('src/main.ts', '')
    const { code, notes } = await build('--outfile', 'dist/main.js')
    expect(code).toBe(2)
    expect(notes.join('\n')).toContain('--outfile dist/main.js must end with .mjs')
  })
})
