// docs/reference/json-output.md shows the fields that commands print.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDurableStore } from '@kubewright/storage'
import { afterAll, expect, test } from 'vitest'
import { definitionOf } from './import/definition-of.ts'
import { runCli } from './import/run-cli.ts'
import { TemporaryFolder } from './manifests/temporary-folder.ts'
import { temporaryProject } from './scaffold/temporary-project.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/reference/json-output.md'), 'utf8')

/** The example of a section. */
function exampleOf(heading: string): unknown {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`))
  return JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(section ?? '')?.[1] ?? 'null')
}

/** The names of all fields, at any depth. Of lists the first item alone is looked at. */
function fieldsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : fieldsOf(value[0], `${path}[]`)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, of]) => [`${path}.${name}`, ...fieldsOf(of, `${path}.${name}`)])
}

const definition = (maxLength: number): string =>
  definitionOf('Home', 'ajd.my.domain', `{ foo: { type: string, maxLength: ${maxLength} } }`)

const folder = new TemporaryFolder()
folder.write([
  ['old.yaml', definition(63)],
  ['new.yaml', definition(10)],
  ['home.yaml', 'apiVersion: ajd.my.domain/v1\nkind: Home\nmetadata: { name: cosy }\nspec: { foo: elevenlongs }\n'],
])
afterAll(() => folder[Symbol.dispose]())

test.each([
  ['crd diff', ['crd', 'diff', 'old.yaml', 'new.yaml'], []],
  [
    'validate',
    ['validate', 'home.yaml', '--crd', 'new.yaml'],
    ['.results[].filled[].path', '.results[].filled[].value'],
  ],
  ['import', ['import', 'new.yaml', '--dry-run'], ['.failures[].name', '.failures[].reason']],
])('%s', async (heading, args, sometimes) => {
  const paths = args.map((arg) => (arg.endsWith('.yaml') ? join(folder.path, arg) : arg))
  const { out, notes } = await runCli([...paths, '--output', 'json'])
  expect(out, notes).not.toBe('')
  const documented = fieldsOf(exampleOf(heading)).filter((field) => !sometimes.includes(field as never))
  expect(fieldsOf(JSON.parse(out)).sort()).toEqual(documented.sort())
})

test('backup, restore and check', async () => {
  const at = (name: string): string => join(folder.path, name)
  const store = await openDurableStore(at('data/store'))
  await store.put('/registry/namespaces/a', Buffer.from('{}'), 0)
  await store[Symbol.asyncDispose]()
  const fieldsPrinted = async (...args: string[]): Promise<string[]> =>
    fieldsOf(JSON.parse((await runCli([...args, '--output', 'json'])).out)).sort()
  expect(await fieldsPrinted('backup', at('b'), '--data', at('data'))).toEqual(fieldsOf(exampleOf('backup')).sort())
  expect(await fieldsPrinted('restore', at('b'), '--data', at('new'))).toEqual(fieldsOf(exampleOf('restore')).sort())
  expect(await fieldsPrinted('check', at('data'))).toEqual(fieldsOf(exampleOf('check')).sort())
})

test('init', async () => {
  using project = temporaryProject()
  const { out } = await project.kubewright('init', '--yes', '--dry-run', '--output', 'json')
  const documented = fieldsOf(exampleOf('init, create api, create webhook, edit'))
  expect(fieldsOf(JSON.parse(out))).toEqual(documented.filter((field) => !field.endsWith('.hints')))
})
