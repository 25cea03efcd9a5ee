import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { moduleProblem } from './module-problem.ts'

const folder = mkdtempSync(join(tmpdir(), 'kubewright-module-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = join(folder, 'main.ts')
const project = (content: object) => writeFileSync(join(folder, 'package.json'), JSON.stringify(content))

describe('moduleProblem()', () => {
  test('names package.json when ES modules are loaded as CommonJS', () => {
    project({ name: 'a' })
    const error = new Error('ERROR: Top-level await is currently not supported with the "cjs" output format')
    expect(moduleProblem(file, error)).toBe(
      `the project is CommonJS, and Kubewright needs ES modules: add "type": "module" to ${join(folder, 'package.json')}, or rename the file to .mts`,
    )
  })

  test('names the file that requires an ES module', () => {
    project({ type: 'module' })
    const error = Object.assign(new Error('require() cannot be used on an ESM graph with top-level await'), {
      code: 'ERR_REQUIRE_ASYNC_MODULE',
    })
    expect(moduleProblem(file, error)).toContain('rename the file from .cts or .cjs to .ts')
    const internal = new TypeError("Cannot read properties of undefined (reading 'exports')")
    internal.stack = `${internal.message}
    at require (node:internal/modules/esm/translators:191:33)
    at <anonymous> (/work/app/src/helper.cts:1:31)`
    expect(moduleProblem(file, internal)).toBe(
      '/work/app/src/helper.cts is CommonJS and requires an ES module: rename it to .ts or .mts, or load the module with import()',
    )
  })

  test('names the variable of CommonJS that an ES module uses', () => {
    expect(
      moduleProblem(file, new ReferenceError('require is not defined in ES module scope, you can use import')),
    ).toBe(`'require' exists in CommonJS only: use import instead, or rename the file that uses it to .cjs or .cts`)
  })

  test('has no fix for other errors', () => {
    expect(moduleProblem(file, new TypeError('x is not a function'))).toBeUndefined()
    expect(moduleProblem(file, 'text')).toBeUndefined()
  })
})
